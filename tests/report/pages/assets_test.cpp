#include "report/pages/assets.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "core/hash.h"

namespace mneme::report {
namespace {

std::string decoded_base64_as_hex(std::string_view text) {
  const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string_view digits = "0123456789abcdef";
  std::string hex;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<unsigned>(alphabet.find(c));
    held += 6;
    while (held >= 4) {
      held -= 4;
      hex += digits[(bits >> held) & 15u];
    }
  }
  return hex;
}

TEST(Assets, IntegrityIsTheHashOfTheBundle) {
  const std::string_view integrity = asset("figure.js.integrity");
  ASSERT_EQ(integrity.substr(0, 7), "sha256-");
  // 43 digits of six bits are 258 bits: two more than the hash has, less than a whole hex digit.
  EXPECT_EQ(decoded_base64_as_hex(integrity.substr(7)), sha256_hex(asset("figure.js")));
}

TEST(Assets, BundlesAreThere) {
  EXPECT_NE(asset("figure.js").find("drawFigures"), std::string_view::npos);
  EXPECT_NE(asset("render.cjs").find("a figure may not load"), std::string_view::npos);
  for (const char c : asset("figure.js")) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Assets, CarryTheLicencesOfWhatTheyContain) {
  for (const char* name : {"figure.js", "render.cjs"})
    EXPECT_NE(asset(name).find("Redistributions in binary form"), std::string_view::npos) << name;
}

TEST(Assets, AnUnknownNameIsADefect) { EXPECT_THROW(asset("nothing"), std::logic_error); }

}  // namespace
}  // namespace mneme::report
