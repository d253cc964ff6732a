#include "study/axis.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::study {
namespace {

std::string shown(std::string_view text) {
  const auto values = parse_series(text, "test:1:1");
  if (!values) return "none";
  std::string result;
  for (const ConfigValue& value : *values) result += config_to_json(value).dump() + " ";
  return result;
}

std::string message(std::string_view text) {
  try {
    parse_series(text, "test:1:1");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Axis, LogspaceGivesCleanDecimals) {
  EXPECT_EQ(shown("logspace(1e-4, 1e-1, 4)"), "0.0001 0.001 0.01 0.1 ");
  EXPECT_EQ(shown("logspace(1e-4, 1e-2, 5)"), "0.0001 0.000316228 0.001 0.00316228 0.01 ");
  EXPECT_EQ(shown(" logspace( 1e-1 ,1e-3 , 3 ) "), "0.1 0.01 0.001 ");
  EXPECT_EQ(shown("logspace(16, 128, 4)"), "16 32 64 128 ");
  EXPECT_EQ(shown("logspace(1.5, 6.0, 3)"), "1.5 3.0 6.0 ");
}

TEST(Axis, LinspaceAndRange) {
  EXPECT_EQ(shown("linspace(0, 1, 5)"), "0.0 0.25 0.5 0.75 1.0 ");
  EXPECT_EQ(shown("linspace(64, 256, 4)"), "64 128 192 256 ");
  EXPECT_EQ(shown("linspace(0.1, 0.5, 5)"), "0.1 0.2 0.3 0.4 0.5 ");
  EXPECT_EQ(shown("range(0, 5, 1)"), "0 1 2 3 4 ");
  EXPECT_EQ(shown("range(0, 0.3, 0.1)"), "0.0 0.1 0.2 ");
  EXPECT_EQ(shown("range(3, 0, -1)"), "3 2 1 ");
}

TEST(Axis, EndsAreKeptAsWritten) {
  EXPECT_EQ(shown("logspace(0.000123456789, 1.23456789, 2)"), "0.000123456789 1.23456789 ");
}

TEST(Axis, OtherTextIsNoSeries) {
  for (const char* text : {"attention", "", "logspace", "logspaced(1,2,3)", "a logspace(1,2,3)"})
    EXPECT_EQ(shown(text), "none") << text;
}

TEST(Axis, WrongArgumentsAreNamed) {
  EXPECT_EQ(message("logspace(1e-4, 1e-1)"),
            "[test:1:1] got 2 arguments of logspace(...), expected three: logspace(first, last, count)");
  EXPECT_EQ(message("logspace(0, 1, 3)"), "[test:1:1] logspace: got ends 0 and 1, expected two positive numbers");
  EXPECT_EQ(message("logspace(1, x, 3)"),
            "[test:1:1] got 'x' in logspace(...), expected a number: logspace(first, last, count)");
  EXPECT_EQ(message("linspace(0, 1, 1)"),
            "[test:1:1] linspace: got a count of 1, expected an integer from 2 to 1,000,000");
  EXPECT_EQ(message("linspace(0, 1, 2.5)"),
            "[test:1:1] linspace: got a count of 2.5, expected an integer from 2 to 1,000,000");
  EXPECT_EQ(message("linspace(0, 1, 1e9)"),
            "[test:1:1] linspace: got a count of 1000000000, expected an integer from 2 to 1,000,000");
  EXPECT_EQ(message("range(5, 5, 1)"),
            "[test:1:1] range(5, 5, 1) is empty, expected a step that leads from start to end");
  EXPECT_EQ(message("range(0, 5, -1)"),
            "[test:1:1] range(0, 5, -1) is empty, expected a step that leads from start to end");
  EXPECT_EQ(message("range(0, 5, 0)"),
            "[test:1:1] range(0, 5, 0) is empty, expected a step that leads from start to end");
  EXPECT_EQ(message("range(0, 1e12, 1)"),
            "[test:1:1] range(0, 1000000000000, 1) has 1e+12 values, expected at most 1,000,000");
  EXPECT_EQ(message("logspace(1e-4, 1e-1, 4"),
            "[test:1:1] got \"logspace(1e-4, 1e-1, 4\", expected logspace(first, last, count)");
  EXPECT_EQ(message("logspace(nan, 1, 4)"),
            "[test:1:1] got 'nan' in logspace(...), expected a number: logspace(first, last, count)");
}

}  // namespace
}  // namespace mneme::study
