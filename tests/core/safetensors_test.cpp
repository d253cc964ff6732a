#include "core/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "core/json.h"
#include "support/expect_error.h"
#include "support/faulty_file_system.h"
#include "support/safetensors_bytes.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using testing::bytes_of;
using testing::error_of;
using ::testing::HasSubstr;
using testing::safetensors_bytes;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

std::string refused(std::string_view file) {
  return error_of(ErrorKind::data, [&] { parse_safetensors(bytes_of(file), "f"); });
}
std::string refused(std::string_view header, std::size_t data_bytes) {
  return refused(safetensors_bytes(header, data_bytes));
}

TEST(ParseSafetensors, ReadsTensorsAndMetadata) {
  const std::string file = safetensors_bytes(
      R"({"__metadata__":{"mixer":"attention","note":"\u00e9"},)"
      R"("b":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("a":{"shape":[],"data_offsets":[8,10],"dtype":"BF16"},"none":{"dtype":"I64","shape":[0,3],"data_offsets":[8,8]}}   )",
      10);
  const SafetensorsContent content = parse_safetensors(bytes_of(file), "f");
  EXPECT_EQ(content.metadata, (std::map<std::string, std::string>{{"mixer", "attention"}, {"note", "\xC3\xA9"}}));
  ASSERT_EQ(content.tensors.size(), 3U);
  const TensorView& b = content.tensors.at("b");
  EXPECT_EQ(b.dtype, "F32");
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(b.bytes.size(), 8U);
  EXPECT_EQ(b.bytes[7], std::byte{7});
  const TensorView& a = content.tensors.at("a");
  EXPECT_TRUE(a.shape.empty());
  EXPECT_EQ(a.bytes[0], std::byte{8});
  EXPECT_TRUE(content.tensors.at("none").bytes.empty());
}

TEST(ParseSafetensors, AnEmptyFileOfTheFormatIsFine) {
  EXPECT_TRUE(parse_safetensors(bytes_of(safetensors_bytes("{}", 0)), "f").tensors.empty());
}

TEST(ParseSafetensors, KnowsTheDtypesOfTheFormat) {
  const std::pair<const char*, std::size_t> sizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  for (const auto& [name, size] : sizes) {
    EXPECT_EQ(dtype_size(name), size);
    const std::string header = R"({"x":{"dtype":")" + std::string(name) + R"(","shape":[3],"data_offsets":[0,)" +
                               std::to_string(3 * size) + "]}}";
    EXPECT_NO_THROW(parse_safetensors(bytes_of(safetensors_bytes(header, 3 * size)), "f")) << name;
    EXPECT_THROW(parse_safetensors(bytes_of(safetensors_bytes(header, 3 * size - 1)), "f"), Error) << name;
  }
  EXPECT_EQ(dtype_size("f32"), 0U);
}

TEST(ParseSafetensors, NamesTroubleWithTheLengths) {
  EXPECT_EQ(refused(""), "[f] short file: got 0 bytes, expected at least 8");
  EXPECT_EQ(refused("1234567"), "[f] short file: got 7 bytes, expected at least 8");
  std::string file = safetensors_bytes("{}", 0);
  file[0] = 3;
  EXPECT_EQ(refused(file), "[f] header longer than the file: got 3 bytes, the file has 2 after the length");
  const std::uint64_t limit = 100'000'001;
  std::memcpy(file.data(), &limit, sizeof limit);
  EXPECT_EQ(refused(file), "[f] header too large: got 100000001 bytes, expected at most 100000000");
  std::fill_n(file.begin(), 8, '\xFF');
  EXPECT_THAT(refused(file), HasSubstr("header too large: got 18446744073709551615 bytes"));
}

TEST(ParseSafetensors, NamesTroubleWithTheHeader) {
  struct Case {
    const char* header;
    const char* expected;
  };
  const Case cases[] = {
      {"", "does not begin with '{'"},
      {" {}", "does not begin with '{'"},
      {"[]", "does not begin with '{'"},
      {"{", "got the end, expected a key in quotes"},
      {"{}x", "got 'x', expected nothing but spaces"},
      {"{}\n", "got 0x0a, expected nothing but spaces"},
      {"{}{}", "expected nothing but spaces"},
      {"{\"\xFF\":1}", "not UTF-8 at its byte 2"},
      {"{}\xC3", "not UTF-8 at its byte 2"},
      {R"({"x":1})", "got '1', expected '{' of a tensor's description"},
      {R"({"x":null})", "got 'n', expected '{' of a tensor's description"},
      {R"({"__metadata__":[]})", "got '[', expected '{' of __metadata__"},
      {R"({"__metadata__":{"a":1}})", "got '1', expected a string in __metadata__"},
      {R"({"__metadata__":{"a":null}})", "got 'n', expected a string in __metadata__"},
      {R"({"__metadata__":{"a":{"b":"c"}}})", "got '{', expected a string in __metadata__"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", R"(duplicate key "a" in __metadata__)"},
      {R"({"__metadata__":{"a":"1","\u0061":"2"}})", R"(duplicate key "a" in __metadata__)"},
      {R"({"__metadata__":{},"__metadata__":{}})", R"(duplicate key "__metadata__")"},
  };
  for (const auto& [header, expected] : cases) {
    EXPECT_THAT(refused(header, 0), HasSubstr(expected)) << header;
    EXPECT_THAT(refused(header, 0), StartsWith("[f] "));
  }
}

TEST(ParseSafetensors, NamesTroubleWithATensor) {
  struct Case {
    const char* description;
    const char* expected;
  };
  const Case cases[] = {
      {R"({})", R"(tensor "x": missing key "dtype")"},
      {R"({"dtype":"U8","shape":[4]})", R"(missing key "data_offsets")"},
      {R"({"dtype":"U8","data_offsets":[0,4]})", R"(missing key "shape")"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,4],"extra":1})", R"(unknown key "extra", expected dtype, shape)"},
      {R"({"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]})", R"(tensor "x": duplicate key "dtype")"},
      {R"({"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]})", R"(duplicate key "shape")"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,4],"data_offsets":[0,4]})", R"(duplicate key "data_offsets")"},
      {R"({"dtype":"Q4","shape":[4],"data_offsets":[0,4]})", R"(tensor "x": unknown dtype "Q4")"},
      {R"({"dtype":"u8","shape":[4],"data_offsets":[0,4]})", R"(unknown dtype "u8")"},
      {R"({"dtype":8,"shape":[4],"data_offsets":[0,4]})", "got '8', expected a dtype in quotes"},
      {R"({"dtype":"U8","shape":4,"data_offsets":[0,4]})", "got '4', expected '[' of a shape"},
      {R"({"dtype":"U8","shape":[-4],"data_offsets":[0,4]})", "got '-', expected a size, an integer >= 0"},
      {R"({"dtype":"U8","shape":[4.0],"data_offsets":[0,4]})", "got '.', expected an integer"},
      {R"({"dtype":"U8","shape":["4"],"data_offsets":[0,4]})", "expected a size"},
      {R"({"dtype":"U8","shape":[[4]],"data_offsets":[0,4]})", "got '[', expected a size"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[-1,4]})", "got '-', expected an offset, an integer >= 0"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,4.0]})", "got '.', expected an integer"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0]})", "two offsets"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[]})", "two offsets"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,4,4]})", "two offsets only"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":{"a":0}})", "got '{', expected '[' of data_offsets"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[4,0]})", "reversed offsets 4 and 0"},
      {R"({"dtype":"U8","shape":[5],"data_offsets":[0,5]})", "ends at byte 5 of the data, beyond the file's 4"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551615]})", "beyond the file's 4"},
      {R"({"dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551616]})", "below 2^64"},
      {R"({"dtype":"F32","shape":[4],"data_offsets":[0,4]})", "size mismatch: got 4 bytes, expected 16"},
      {R"({"dtype":"U8","shape":[2],"data_offsets":[0,4]})", "size mismatch: got 4 bytes, expected 2"},
      {R"({"dtype":"U8","shape":[],"data_offsets":[0,4]})", "size mismatch: got 4 bytes, expected 1"},
      {R"({"dtype":"U8","shape":[0],"data_offsets":[0,4]})", "size mismatch: got 4 bytes, expected 0"},
      {R"({"dtype":"U8","shape":[1099511627776],"data_offsets":[0,4]})", "size mismatch"},
      {R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]})", "overflow"},
      {R"({"dtype":"U8","shape":[4294967296,4294967297],"data_offsets":[0,4]})", "overflow"},
      {R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", "overflow"},
      {R"({"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]})", "overflow"},
      {R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,4]})", "below 2^63"},
  };
  for (const auto& [description, expected] : cases)
    EXPECT_THAT(refused(R"({"x":)" + std::string(description) + "}", 4), HasSubstr(expected)) << description;
}

TEST(ParseSafetensors, NamesTroubleBetweenTensors) {
  const auto pair = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  EXPECT_NO_THROW(parse_safetensors(bytes_of(safetensors_bytes(pair("[2,4]", "[0,2]"), 4)), "f"));
  EXPECT_THAT(refused(pair("[0,2]", "[1,3]"), 4),
              HasSubstr(R"(overlap: tensor "b" starts at byte 1 of the data, the one before ends at 2)"));
  EXPECT_THAT(refused(pair("[0,2]", "[0,2]"), 2), HasSubstr("overlap"));
  EXPECT_THAT(refused(pair("[0,2]", "[3,5]"), 5),
              HasSubstr(R"(hole: no tensor has bytes 2 to 3 of the data, before "b")"));
  EXPECT_THAT(refused(pair("[1,3]", "[3,5]"), 5), HasSubstr("hole: no tensor has bytes 0 to 1"));
  EXPECT_THAT(refused(pair("[0,2]", "[2,4]"), 5),
              HasSubstr("trailing bytes: the tensors end at byte 4 of the data, the file has 5"));
  EXPECT_THAT(refused("{}", 1), HasSubstr("trailing bytes"));
  std::string twice = pair("[0,2]", "[2,4]");
  twice.replace(twice.find("\"b\""), 3, "\"a\"");
  EXPECT_THAT(refused(twice, 4), HasSubstr(R"(duplicate key "a")"));
}

TEST(ParseSafetensors, DeepNestingAndLongShapesAreRefusedAtOnce) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(refused(R"({"x":)" + deep, 0), HasSubstr("got '[', expected '{'"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"U8","shape":)" + deep, 0), HasSubstr("got '[', expected a size"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_THAT(refused(objects, 0), HasSubstr(R"(unknown key "a")"));
  EXPECT_THAT(refused(R"({"__metadata__":)" + objects, 0), HasSubstr("got '{', expected a string"));
  std::string ones = "1";
  for (int i = 1; i < 64; ++i) ones += ",1";
  const auto header = [](const std::string& shape) {
    return R"({"x":{"dtype":"U8","shape":[)" + shape + R"(],"data_offsets":[0,1]}})";
  };
  EXPECT_NO_THROW(parse_safetensors(bytes_of(safetensors_bytes(header(ones), 1)), "f"));
  EXPECT_THAT(refused(header(ones + ",1"), 1), HasSubstr("at most 64 sizes"));
}

TEST(ParseSafetensors, MessagesStayShortAndPrintable) {
  const std::string header = R"({"\u001b)" + std::string(100'000, 'n') + R"(":{}})";
  const std::string message = refused(header, 0);
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(message.find('\x1b'), message.npos);
}

struct Sample {
  std::vector<float> weights{1.5F, -2.F, 3e-20F};
  std::vector<std::int64_t> steps{7, -8};
  std::vector<std::uint8_t> flags{1, 0, 1};
  double scalar = 0.25;
  std::map<std::string, TensorView> tensors() const {
    return {{"weights", {"F32", {3, 1}, std::as_bytes(std::span(weights))}},
            {"steps", {"I64", {2}, std::as_bytes(std::span(steps))}},
            {"a flags \"\xC3\xA9\"", {"U8", {3}, std::as_bytes(std::span(flags))}},
            {"scalar", {"F64", {}, std::as_bytes(std::span(&scalar, 1))}},
            {"empty", {"U32", {0, 5}, {}}}};
  }
};

TEST(SaveSafetensors, RoundTrips) {
  const TemporaryDirectory directory;
  const Path path = directory / "x.safetensors";
  const Sample sample;
  const std::map<std::string, std::string> metadata{{"config", "{\"a\": 1}\n"}, {"", "\xC3\xA9"}};
  save_safetensors(path, sample.tensors(), metadata);
  const Safetensors loaded = Safetensors::load(path);
  EXPECT_EQ(loaded.metadata(), metadata);
  ASSERT_EQ(loaded.tensors().size(), sample.tensors().size());
  for (const auto& [name, tensor] : sample.tensors()) {
    const TensorView& back = loaded.tensors().at(name);
    EXPECT_EQ(back.dtype, tensor.dtype);
    EXPECT_EQ(back.shape, tensor.shape);
    EXPECT_TRUE(std::equal(back.bytes.begin(), back.bytes.end(), tensor.bytes.begin(), tensor.bytes.end())) << name;
  }
}

TEST(SaveSafetensors, KeepsToTheLetterOfTheFormat) {
  const TemporaryDirectory directory;
  const Path path = directory / "x.safetensors";
  const Sample sample;
  save_safetensors(path, sample.tensors(), {{"k", "v"}});
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  const std::string header = file.substr(8, length);
  EXPECT_THAT(header, StartsWith(R"({"__metadata__":{"k":"v"},"a flags)"));
  const Json json = parse_json(header, "header");
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : sample.tensors()) {
    const Json& entry = json.at(name);
    const std::uint64_t begin = entry.at("data_offsets").at(0);
    EXPECT_EQ((8 + length + begin) % dtype_size(tensor.dtype), 0U) << name << " is not aligned";
    EXPECT_EQ(file.compare(8 + length + begin, tensor.bytes.size(), reinterpret_cast<const char*>(tensor.bytes.data()),
                           tensor.bytes.size()),
              0);
    end = std::max(end, entry.at("data_offsets").at(1).get<std::uint64_t>());
  }
  EXPECT_EQ(8 + length + end, file.size());
}

TEST(SaveSafetensors, EqualContentHasEqualBytes) {
  const TemporaryDirectory directory;
  const Sample sample, other;
  save_safetensors(directory / "a", sample.tensors(), {{"x", "1"}, {"y", "2"}});
  save_safetensors(directory / "b", other.tensors(), {{"y", "2"}, {"x", "1"}});
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b"));
  const Safetensors loaded = Safetensors::load(directory / "a");
  save_safetensors(directory / "c", loaded.tensors(), loaded.metadata());
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "c"));
  save_safetensors(directory / "none", {}, {});
  EXPECT_EQ(read_file(directory / "none"), safetensors_bytes("{}      ", 0));
}

TEST(SaveSafetensors, AssertsThatItsArgumentsFit) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> bytes(4);
  const auto message = [&](const std::string& name, const TensorView& tensor) {
    return error_of(ErrorKind::internal, [&] { save_safetensors(directory / "x", {{name, tensor}}, {}); });
  };
  EXPECT_THAT(message("x", {"F32", {2}, bytes}), HasSubstr("bytes of its shape"));
  EXPECT_THAT(message("x", {"F32", {-1}, bytes}), HasSubstr("bytes of its shape"));
  EXPECT_THAT(message("x", {"float", {1}, bytes}), HasSubstr("known dtype"));
  EXPECT_THAT(message("__metadata__", {"F32", {1}, bytes}), HasSubstr("name of a tensor"));
  EXPECT_THAT(message("\xFF", {"F32", {1}, bytes}), HasSubstr("name of a tensor"));
  EXPECT_THAT(error_of(ErrorKind::internal,
                       [&] {
                         save_safetensors(directory / "x", {}, {{"k", "\xFF"}});
                       }),
              HasSubstr("UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(directory / "x"));
}

TEST(SaveSafetensors, AFailingDiskLeavesThePreviousFile) {
  const TemporaryDirectory directory;
  const Path path = directory / "x.safetensors";
  const Sample sample;
  save_safetensors(path, {}, {{"generation", "1"}});
  int failures = 0;
  for (int call = 0;; ++call) {
    testing::FaultyFileSystem disk(testing::Fault::no_space, call);
    const ScopedFileSystem scope(disk);
    try {
      save_safetensors(path, sample.tensors(), {{"generation", "2"}});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      ++failures;
    }
    const std::string generation = Safetensors::load(path).metadata().at("generation");
    if (!disk.struck()) {
      EXPECT_EQ(generation, "2");
      break;
    }
    EXPECT_TRUE(generation == "1" || call >= 9) << call;
  }
  EXPECT_EQ(failures, 10) << "create, header, 4 tensors with bytes, sync, close, rename, sync of the directory";
}

TEST(LoadSafetensors, NamesTheFile) {
  const TemporaryDirectory directory;
  const auto message = [&](const Path& path) { return error_of(ErrorKind::data, [&] { Safetensors::load(path); }); };
  EXPECT_THAT(message(directory / "none"), HasSubstr("/none] cannot open: No such file"));
  EXPECT_THAT(message(directory.path()), HasSubstr("not a file"));
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(message(directory / "fifo"), HasSubstr("not a file"));
  write_file_atomically(directory / "empty", "");
  EXPECT_THAT(message(directory / "empty"), HasSubstr("/empty] short file: got 0 bytes"));
}

TEST(LoadSafetensors, AHugeHollowFileCostsNothing) {
  const TemporaryDirectory directory;
  const Path path = directory / "hollow";
  write_file_atomically(path, safetensors_bytes("{}", 0));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 36);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { Safetensors::load(path); }), HasSubstr("trailing bytes"));
}

TEST(LoadSafetensors, ViewsOutliveTheFileAndTheFirstObject) {
  const TemporaryDirectory directory;
  const Path path = directory / "x.safetensors";
  const Sample sample;
  save_safetensors(path, sample.tensors(), {});
  Safetensors copy;
  {
    const Safetensors loaded = Safetensors::load(path);
    copy = loaded;
  }
  std::filesystem::remove(path);
  double scalar = 0;
  std::memcpy(&scalar, copy.tensors().at("scalar").bytes.data(), sizeof scalar);
  EXPECT_EQ(scalar, 0.25);
}

}  // namespace
}  // namespace mneme
