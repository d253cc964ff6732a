#include "core/json_cursor.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/json.h"
#include "core/random.h"
#include "support/expect_error.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

std::string read_string(std::string_view text) { return JsonCursor(text, "here").string("a string"); }
std::uint64_t read_natural(std::string_view text) { return JsonCursor(text, "here").natural("a number"); }

TEST(JsonCursor, ReadsStringsToTheLetter) {
  EXPECT_EQ(read_string(R"("")"), "");
  EXPECT_EQ(read_string(R"( "a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(read_string(R"("\u0041\u00e9\u20AC\ud83d\ude00")"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(read_string(R"("\u0000")"), std::string_view("\0", 1));
}

TEST(JsonCursor, ReadsBackWhatTheLibraryWrites) {
  Random random(stream_key(1, "strings"), 0);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (std::uint32_t length = random.below(12); length > 0; --length) {
      static const std::string kPieces[] = {
          "a", "\"", "\\", "\n", "\x01", "\x7F", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
      text += kPieces[random.below(std::size(kPieces))];
    }
    EXPECT_EQ(read_string(Json(text).dump()), text);
    EXPECT_EQ(read_string(Json(text).dump(-1, ' ', true)), text);
  }
}

TEST(JsonCursor, RefusesWrongStrings) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "JSON byte 0: got the end, expected a string"},
      {"a", "byte 0: got 'a', expected a string"},
      {"\"abc", "byte 4: got the end, expected the closing quote"},
      {"\"a\nb\"", "byte 2: got 0x0a, expected control characters in a string to be escaped"},
      {R"("\x41")", "byte 2: got 'x', expected an escape of JSON"},
      {R"("\)", "byte 2: got the end, expected an escape of JSON"},
      {R"("\u12g4")", "byte 5: got 'g', expected four hexadecimal digits"},
      {R"("\u12)", "byte 5: got the end, expected four hexadecimal digits"},
      {R"("\ud83d")", "expected a pair of surrogates"},
      {R"("\ud83d\n")", "expected a pair of surrogates"},
      {R"("\ud83d\u0041")", "expected a pair of surrogates"},
      {R"("\ude00")", "expected a pair of surrogates"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error_of(ErrorKind::data, [&text = text] { read_string(text); }), HasSubstr(expected)) << text;
}

TEST(JsonCursor, ReadsNaturalNumbers) {
  EXPECT_EQ(read_natural("0"), 0U);
  EXPECT_EQ(read_natural(" 907"), 907U);
  EXPECT_EQ(read_natural("18446744073709551615"), UINT64_MAX);
}

TEST(JsonCursor, RefusesOtherNumbers) {
  const std::pair<const char*, const char*> cases[] = {
      {"-1", "got '-', expected a number"},
      {"+1", "got '+', expected a number"},
      {"1.0", "got '.', expected an integer without point or exponent"},
      {"1e3", "got 'e', expected an integer"},
      {"1E3", "got 'E', expected an integer"},
      {"01", "integer without leading zeros"},
      {"00", "integer without leading zeros"},
      {"18446744073709551616", "below 2^64"},
      {"99999999999999999999", "below 2^64"},
      {"true", "got 't', expected a number"},
      {"\"1\"", "expected a number"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error_of(ErrorKind::data, [&text = text] { read_natural(text); }), HasSubstr(expected)) << text;
}

std::vector<std::uint64_t> read_array(std::string_view text) {
  std::vector<std::uint64_t> items;
  JsonCursor cursor(text, "here");
  cursor.array("an array", [&] { items.push_back(cursor.natural("an item")); });
  cursor.end();
  return items;
}

TEST(JsonCursor, ReadsArraysAndObjects) {
  EXPECT_THAT(read_array("[]"), ElementsAre());
  EXPECT_THAT(read_array("[ 1 ,\n2,\t3 ]  "), ElementsAre(1, 2, 3));
  std::vector<std::string> members;
  JsonCursor cursor(R"({ "a" : "x" , "b":"y", "a":"z"})", "here");
  cursor.object("an object", [&](const std::string& key) { members.push_back(key + cursor.string("a value")); });
  EXPECT_THAT(members, ElementsAre("ax", "by", "az"));
}

TEST(JsonCursor, RefusesWrongPunctuation) {
  for (const char* text : {"", "{", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1]\n", "[1],", "1", "[1}"})
    EXPECT_THROW(read_array(text), Error) << text;
  const auto read_object = [](std::string_view text) {
    JsonCursor cursor(text, "here");
    cursor.object("an object", [&](const std::string&) { cursor.natural("a value"); });
    cursor.end();
  };
  EXPECT_NO_THROW(read_object(R"({"a":1})"));
  for (const char* text :
       {"{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}"})
    EXPECT_THROW(read_object(text), Error) << text;
}

}  // namespace
}  // namespace mneme
