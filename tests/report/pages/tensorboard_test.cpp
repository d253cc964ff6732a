#include "report/pages/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace mneme::report {
namespace {

TEST(Tensorboard, ChecksumIsCrc32c) {
  // The check value of the algorithm, and two of RFC 3720's examples.
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

template <typename Value>
Value read(const std::string& bytes, std::size_t at) {
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

TEST(Tensorboard, RecordsAreFramedAndHoldTheEvents) {
  const std::string file = tensorboard_file(7.0, {{8.0, 300, "validation/accuracy", 0.5F}});
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = read<std::uint64_t>(file, at);
    EXPECT_EQ(read<std::uint32_t>(file, at + 8), masked(crc32c(file.substr(at, 8))));
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(read<std::uint32_t>(file, at + 12 + length), masked(crc32c(records.back())));
    at += 16 + length;
  }
  ASSERT_EQ(records.size(), 2u);
  using namespace std::string_literals;
  std::string version = "\x09\0\0\0\0\0\0\x1c\x40\x1a\x0d"s;
  version.append("brain.Event:2");
  EXPECT_EQ(records[0], version);
  // wall_time 8, step 300, summary { value { tag, simple_value 0.5 } }
  std::string event = "\x09\0\0\0\0\0\0\x20\x40\x10\xac\x02\x2a\x1c\x0a\x1a\x0a\x13"s;
  event.append("validation/accuracy");
  event.append("\x15\0\0\0\x3f"s);
  EXPECT_EQ(records[1], event);
}

}  // namespace
}  // namespace mneme::report
