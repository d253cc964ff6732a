#include "core/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace mneme {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("length", "lenght"), 1U) << "a transposition is one edit";
  EXPECT_EQ(edit_distance("mamba", "mamba2"), 1U);
}

TEST(Nearest, FindsLikelyMisspellingsOnly) {
  const std::vector<std::string> known{"length", "pairs", "vocab"};
  EXPECT_EQ(nearest("lenght", known), "length");
  EXPECT_EQ(nearest("pair", known), "pairs");
  EXPECT_EQ(nearest("width", known), "");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(Suggestion, OffersTheNearestOrTheList) {
  const std::vector<std::string> known{"length", "pairs"};
  EXPECT_EQ(suggestion("lenght", known), ", did you mean 'length'?");
  EXPECT_EQ(suggestion("colour", known), "; known: length, pairs");
}

TEST(JoinAndSplit, AreInverse) {
  const std::vector<std::string> parts{"a", "", "b"};
  EXPECT_EQ(join(parts, "."), "a..b");
  EXPECT_EQ(split("a..b", '.'), parts);
  EXPECT_EQ(split("", '.'), std::vector<std::string>{""});
  EXPECT_EQ(split("a.", '.'), (std::vector<std::string>{"a", ""}));
}

TEST(Utf8, AcceptsWellFormedText) {
  for (const char* text : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF4\x8F\xBF\xBF", "\xC2\x80", "\xE0\xA0\x80", "\xF0\x90\x80\x80"})
    EXPECT_TRUE(is_utf8(text)) << text;
}

TEST(Utf8, RefusesWhatIsNot) {
  struct Case {
    const char* bytes;
    const char* why;
  };
  const Case cases[] = {{"\x80", "a continuation alone"}, {"\xC3", "cut short"},
                        {"\xE2\x82", "cut short"},        {"\xF0\x9F\x98", "cut short"},
                        {"\xC3(", "no continuation"},     {"\xE2\x82(", "no continuation"},
                        {"\xC0\xAF", "overlong"},         {"\xC1\xBF", "overlong"},
                        {"\xE0\x9F\xBF", "overlong"},     {"\xF0\x8F\xBF\xBF", "overlong"},
                        {"\xED\xA0\x80", "a surrogate"},  {"\xF4\x90\x80\x80", "beyond U+10FFFF"},
                        {"\xF5\x80\x80\x80", "beyond"},   {"\xFF", "never a byte of UTF-8"}};
  for (const auto& [bytes, why] : cases) {
    EXPECT_FALSE(is_utf8(bytes)) << why;
    EXPECT_EQ(utf8_prefix(std::string("a\xC3\xA9") + bytes), 3U) << why;
  }
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  const std::string accents = "a\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9";
  for (std::size_t limit = 4; limit < accents.size(); ++limit) {
    const std::string cut = shortened(accents, limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_TRUE(is_utf8(cut)) << limit;
  }
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12345678), "12,345,678");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Duration, RoundsAcrossUnits) {
  EXPECT_EQ(duration(0.44), "0.4 s");
  EXPECT_EQ(duration(9.94), "9.9 s");
  EXPECT_EQ(duration(9.96), "10 s");
  EXPECT_EQ(duration(59.4), "59 s");
  EXPECT_EQ(duration(59.6), "1 min 00 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(3599.9), "1 h 00 min");
  EXPECT_EQ(duration(7800), "2 h 10 min");
  EXPECT_EQ(duration(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(duration(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(duration(1e300), "?");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 80, 2), "one two three");
  EXPECT_EQ(wrapped("one two three", 11, 2), "one two\n  three");
  EXPECT_EQ(wrapped("averyverylongword next", 8, 2), "averyverylongword\n  next");
  EXPECT_EQ(wrapped("", 8, 2), "");
}

TEST(Text, PasswordsAreHidden) {
  EXPECT_EQ(without_passwords("got 'postgresql://user:secret@host/db', expected"),
            "got 'postgresql://user:***@host/db', expected");
  EXPECT_EQ(without_passwords("a://u:p@q@h b://u:p/q:r@h:1/d"), "a://u:***@h b://u:***@h:1/d");
  EXPECT_EQ(without_passwords("postgresql:///db?password=secret&user=u"), "postgresql:///db?password=***&user=u");
  for (const char* text :
       {"", "://", "postgresql://host:5432/db", "postgresql://user@host/db", "me@home: https://host"})
    EXPECT_EQ(without_passwords(text), text);
}

}  // namespace
}  // namespace mneme
