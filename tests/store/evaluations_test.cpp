#include "store/evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/expect_error.h"
#include "support/temporary_directory.h"

namespace mneme::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Evaluations, AreKeptUnderTheirNames) {
  const testing::TemporaryDirectory directory;
  const RunDirectory run(directory.path());
  EXPECT_THAT(evaluation_names(run), IsEmpty());
  EXPECT_FALSE(load_evaluation(run, "length").has_value());
  const Json first = {{"asked", {{"along", "length"}}}, {"values", Json::object()}};
  save_evaluation(run, "length", first);
  save_evaluation(run, "a", first);
  EXPECT_THAT(evaluation_names(run), ElementsAre("a", "length"));
  EXPECT_EQ(*load_evaluation(run, "length"), first);
  Json second = first;
  second["values"]["axis"] = "length";
  save_evaluation(run, "length", second);
  EXPECT_EQ(*load_evaluation(run, "length"), second);
  std::ofstream(evaluation_file(run, "a")) << "{\"asked\": 1";
  testing::error_of(ErrorKind::data, [&] { load_evaluation(run, "a"); });
  std::ofstream(evaluation_file(run, "a")) << "[]";
  EXPECT_THAT(testing::error_of(ErrorKind::data, [&] { load_evaluation(run, "a"); }), HasSubstr("not an evaluation"));
}

TEST(Evaluations, NamesAreNamesOfFiles) {
  for (const char* good : {"length", "more-pairs_8", "length=64.x2"}) check_evaluation_name(good);
  for (const std::string& bad : std::vector<std::string>{"", ".hidden", "a/b", "../x", "a b", std::string(101, 'a')})
    EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { check_evaluation_name(bad); }), HasSubstr("[--name] got '"));
}

}  // namespace
}  // namespace mneme::store
