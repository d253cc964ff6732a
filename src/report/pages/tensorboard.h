// Event files of TensorBoard, as far as scalars need them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mneme::report {

struct ScalarEvent {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string tag;
  float value = 0;
};

// The bytes of an event file: records framed by length and masked CRC-32C, each a protocol-buffer Event; the first
// one is the file version "brain.Event:2".
std::string tensorboard_file(double wall_time, const std::vector<ScalarEvent>& events);

// CRC-32C (Castagnoli) of some bytes.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace mneme::report
