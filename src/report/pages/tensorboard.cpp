#include "report/pages/tensorboard.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace mneme::report {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they are in memory");

template <typename Value>
std::string bytes_of(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// The wire types of protocol buffers that are needed here.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string key(int field, Wire wire) { return varint(static_cast<std::uint64_t>(field << 3 | wire)); }
std::string bytes_field(int field, std::string_view bytes) {
  return key(field, kBytes) + varint(bytes.size()) + std::string(bytes);
}

// TensorFlow's mask, so that a checksum of data that holds checksums stays useful.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

std::string record(std::string_view data) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(data.size()));
  return length + bytes_of(masked(crc32c(length))) + std::string(data) + bytes_of(masked(crc32c(data)));
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82f63b78U : 0U);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string tensorboard_file(double wall_time, const std::vector<ScalarEvent>& events) {
  // Event: wall_time = 1, step = 2, file_version = 3, summary = 5. Summary: value = 1. Value: tag = 1, simple_value
  // = 2.
  std::string file = record(key(1, kFixed64) + bytes_of(wall_time) + bytes_field(3, "brain.Event:2"));
  for (const ScalarEvent& event : events) {
    const std::string value = bytes_field(1, event.tag) + key(2, kFixed32) + bytes_of(event.value);
    file += record(key(1, kFixed64) + bytes_of(event.wall_time) + key(2, kVarint) +
                   varint(static_cast<std::uint64_t>(event.step)) + bytes_field(5, bytes_field(1, value)));
  }
  return file;
}

}  // namespace mneme::report
