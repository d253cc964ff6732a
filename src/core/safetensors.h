// Reading and writing safetensors files: named arrays and a few strings.
//
// A file is: the header's length (8 bytes, little-endian), the header (JSON: name -> dtype, shape,
// data_offsets; and "__metadata__", a table of strings), the bytes of the tensors without gaps.
//
// The reader is strict and trusts nothing: whatever is wrong is an Error(data) that names it, and is found
// before any memory is taken but for the names and shapes of the header that is really there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/commit.h"

namespace mneme {

struct TensorView {
  std::string dtype;                 // "F32", "I64", ...: the names of the format
  std::vector<std::int64_t> shape;   // empty: a scalar
  std::span<const std::byte> bytes;  // row-major, little-endian; not always aligned: copy, do not cast
};

// The bytes of one element: BOOL, U8, I8, F8_E5M2, F8_E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64,
// U64; 0 for any other name.
std::size_t dtype_size(std::string_view dtype);

struct SafetensorsContent {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

// The content of a whole file in memory; the views point into `file`. `where` begins the messages.
SafetensorsContent parse_safetensors(std::span<const std::byte> file, std::string_view where);

// An open file. The views live as long as this object or a copy of it; the file is mapped, so it may be
// replaced meanwhile (as write_file_atomically does) but not shortened in place.
class Safetensors {
 public:
  static Safetensors load(const Path& path);
  // The same for a sealed file: Error(data) unless every byte is the one that was written.
  static Safetensors load_sealed(const Path& path);

  const std::map<std::string, TensorView>& tensors() const { return content_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return content_.metadata; }

 private:
  std::shared_ptr<const void> mapping_;
  std::span<const std::byte> bytes_;
  SafetensorsContent content_;
};

// Writes a file atomically. Equal arguments give equal bytes, and every tensor starts at a multiple of its
// element's size (wide elements first, then by name). Asserts that each view has the bytes of its shape.
void save_safetensors(const Path& path, const std::map<std::string, TensorView>& tensors,
                      const std::map<std::string, std::string>& metadata);

// The same with a seal: the metadata's "sha256" is the digest of the whole file, in which the digest itself is
// counted as 64 zeros. Any reader of safetensors reads the file.
void save_sealed_safetensors(const Path& path, const std::map<std::string, TensorView>& tensors,
                             std::map<std::string, std::string> metadata, const Commit& commit = {});

}  // namespace mneme
