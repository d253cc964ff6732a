// A million damaged files through the safetensors reader. The real fuzzer (tests/fuzz) finds more per hour; this
// one runs on every change and repeats to the bit.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "core/safetensors.h"
#include "support/safetensors_bytes.h"

namespace mneme {
namespace {

using testing::bytes_of;
using testing::safetensors_bytes;

std::vector<std::string> valid_files() {
  return {
      safetensors_bytes("{}", 0),
      safetensors_bytes(R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3),
      safetensors_bytes(R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}} )", 8),
      safetensors_bytes(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                        R"("b\u00e9":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}})",
                        10),
      safetensors_bytes(R"({"e":{"dtype":"F64","shape":[0,9],"data_offsets":[0,0]}})", 0),
  };
}

// Replaces the announced length of the header by its true one after the header has grown or shrunk by `change`.
void adjust_length(std::string& file, std::int64_t change) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  length += static_cast<std::uint64_t>(change);
  std::memcpy(file.data(), &length, sizeof length);
}

void mutate(std::string& file, Random& random) {
  static constexpr std::string_view kTokens[] = {"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "\\",
                                                 "0",
                                                 "1",
                                                 "8",
                                                 "-1",
                                                 "1e9",
                                                 "\\u0000",
                                                 "\\ud800",
                                                 "\xC3",
                                                 "null",
                                                 "\"dtype\":\"U8\",",
                                                 "\"x\":",
                                                 "\"__metadata__\":{},",
                                                 "18446744073709551615",
                                                 "4294967296",
                                                 " ",
                                                 "\n"};
  if (file.size() < 9) return;
  const auto position = [&](std::size_t from) {
    return from + random.below(static_cast<std::uint32_t>(file.size() - from));
  };
  switch (random.below(7)) {
    case 0: file[position(0)] ^= static_cast<char>(1U << random.below(8)); break;
    case 1: file[position(8)] = static_cast<char>(random.bits()); break;
    case 2: file.resize(position(0)); break;
    case 3: file.append(1 + random.below(9), static_cast<char>(random.bits())); break;
    case 4: {
      const std::string_view token = kTokens[random.below(std::size(kTokens))];
      file.insert(position(8), token);
      adjust_length(file, static_cast<std::int64_t>(token.size()));
      break;
    }
    case 5: {
      const std::size_t at = position(8), count = std::min<std::size_t>(1 + random.below(6), file.size() - at);
      file.erase(at, count);
      adjust_length(file, -static_cast<std::int64_t>(count));
      break;
    }
    // A digit for a digit: the JSON stays right, offsets, sizes and dtypes do not.
    case 6:
      for (std::size_t at = position(8); at < file.size(); ++at)
        if (file[at] >= '0' && file[at] <= '9') {
          file[at] = static_cast<char>('0' + random.below(10));
          break;
        }
      break;
  }
}

TEST(SafetensorsMutations, AMillionDamagedFilesAreAcceptedOrRefused) {
  const std::vector<std::string> files = valid_files();
  for (const std::string& file : files) ASSERT_NO_THROW(parse_safetensors(bytes_of(file), "valid"));
  int accepted = 0, refused = 0;
  std::string file;
  for (std::uint64_t item = 0; item < 1'000'000; ++item) {
    Random random(stream_key(14, "mutations"), item);
    file = files[random.below(static_cast<std::uint32_t>(files.size()))];
    for (std::uint32_t count = 1 + random.below(3); count > 0; --count) mutate(file, random);
    try {
      const SafetensorsContent content = parse_safetensors(bytes_of(file), "mutated");
      ++accepted;
      // What is accepted must be consistent: every view inside the file, together the whole data.
      std::size_t bytes = 0;
      for (const auto& [name, tensor] : content.tensors) {
        const auto* begin = reinterpret_cast<const char*>(tensor.bytes.data());
        ASSERT_TRUE(begin >= file.data() && begin + tensor.bytes.size() <= file.data() + file.size()) << item;
        bytes += tensor.bytes.size();
      }
      std::uint64_t header = 0;
      std::memcpy(&header, file.data(), sizeof header);
      ASSERT_EQ(8 + header + bytes, file.size()) << item;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::data) << error.what();
      ++refused;
    }
  }
  RecordProperty("accepted", accepted);
  RecordProperty("refused", refused);
  EXPECT_EQ(accepted + refused, 1'000'000);
  EXPECT_GT(accepted, 10'000) << "the mutations must reach beyond the first check";
  EXPECT_GT(refused, 500'000);
}

}  // namespace
}  // namespace mneme
