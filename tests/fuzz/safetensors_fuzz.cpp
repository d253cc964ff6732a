// Any bytes as a safetensors file: accepted or refused, and what is accepted is consistent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/error.h"
#include "core/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    const mneme::SafetensorsContent content = mneme::parse_safetensors(file, "fuzz");
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : content.tensors) {
      // Read the ends, so that a view beyond the file is caught.
      if (!tensor.bytes.empty()) {
        const volatile std::byte first = tensor.bytes.front(), last = tensor.bytes.back();
        static_cast<void>(first);
        static_cast<void>(last);
      }
      bytes += tensor.bytes.size();
    }
    if (bytes > size) std::abort();
  } catch (const mneme::Error& error) {
    if (error.kind() != mneme::ErrorKind::data) std::abort();
  }
  return 0;
}
