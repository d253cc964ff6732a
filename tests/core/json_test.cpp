#include "core/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"

namespace mneme {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

TEST(Canonical, DoesNotDependOnTheOrderOfWriting) {
  Json one, other;
  one["b"] = 1;
  one["a"] = {{"y", 0.1}, {"x", {1, 2}}};
  other["a"]["x"] = {1, 2};
  other["a"]["y"] = 0.1;
  other["b"] = 1;
  EXPECT_EQ(canonical(one), canonical(other));
  EXPECT_EQ(canonical(one), R"({"a":{"x":[1,2],"y":0.1},"b":1})");
}

TEST(Canonical, NumbersReadBackEqual) {
  for (const double number : {0.1, 1e-3, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123456789, 3e-4}) {
    const std::string text = canonical(Json(number));
    EXPECT_EQ(parse_json(text, "test").get<double>(), number) << text;
    EXPECT_EQ(canonical(parse_json(text, "test")), text);
  }
  EXPECT_EQ(canonical(Json(1.0)), "1.0");
  EXPECT_EQ(canonical(Json(1)), "1");
  EXPECT_EQ(canonical(Json(std::numeric_limits<std::uint64_t>::max())), "18446744073709551615");
}

TEST(Canonical, RefusesWhatJsonCannotHold) {
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         canonical(Json{{"lr", std::numeric_limits<double>::quiet_NaN()}});
                       }),
              HasSubstr("not finite"));
  EXPECT_THAT(error_of(ErrorKind::data, [] { canonical(Json{1, "\xFF"}); }), HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of(ErrorKind::data, [] { canonical(Json{{"\xFF", 1}}); }), HasSubstr("not UTF-8"));
}

TEST(ParseJson, NamesPlaceAndByte) {
  EXPECT_EQ(error_of(ErrorKind::data, [] { parse_json("{\"a\": }", "summary.json"); }),
            "[summary.json] not valid JSON at byte 7, expected a JSON value");
  for (const char* text : {"", "{", "[1,]", "nul", "\"\xFF\"", "{} {}", "NaN"})
    EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json(text, "here"); }), HasSubstr("[here] not valid JSON"))
        << text;
}

TEST(ParseJson, RefusesANumberBeyondDoubles) {
  EXPECT_THAT(error_of(ErrorKind::data, [] { parse_json("[1e999]", "here"); }), HasSubstr("too large"));
}

TEST(ParseJson, BoundsNesting) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(kMaxJsonDepth), "here"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json(nested(kMaxJsonDepth + 1), "here"); }),
              HasSubstr("nested too deeply at byte 257"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json(std::string(5'000'000, '['), "here"); }),
              HasSubstr("nested too deeply"));
  const std::string quoted = fmt::format("[\"{}\\\"{}\"]", std::string(1000, '{'), std::string(1000, '['));
  EXPECT_NO_THROW(parse_json(quoted, "here")) << "brackets in strings are no nesting";
}

}  // namespace
}  // namespace mneme
