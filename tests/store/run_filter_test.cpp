#include "store/run_filter.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::store {
namespace {

TEST(RunFilter, ReadsKeyComparisonAndValue) {
  const RunFilter rate = parse_run_filter("lr>=1e-3");
  EXPECT_EQ(rate.key.column, "lr");
  EXPECT_EQ(rate.comparison, ">=");
  EXPECT_EQ(std::get<double>(rate.values.at(0)), 1e-3);

  const RunFilter mixer = parse_run_filter("mixer=attention");
  EXPECT_EQ(mixer.comparison, "=");
  EXPECT_EQ(std::get<std::string>(mixer.values.at(0)), "attention");

  const RunFilter id = parse_run_filter("id=123456789012");
  EXPECT_EQ(std::get<std::string>(id.values.at(0)), "123456789012");

  const RunFilter length = parse_run_filter("task.length!=64");
  EXPECT_EQ(length.key.path, "$.task.length");
  EXPECT_EQ(std::get<double>(length.values.at(0)), 64);
  EXPECT_EQ(std::get<double>(parse_run_filter("model.tied=true").values.at(0)), 1);
}

TEST(RunFilter, RefusesWhatIsNotAFilter) {
  for (const char* text : {"",
                           "lr",
                           "=3",
                           "lr=",
                           "lr=<3",
                           "lr=>3",
                           "lr!3",
                           "mixre=attention",
                           "config.x=1",
                           "task.=1",
                           "task.a'b=1",
                           "task.length) --=1",
                           "lr>abc",
                           "state=finished",
                           "test>=90",
                           "test=good",
                           "lr>1e-3,1e-2",
                           "id=xyz",
                           "id=1234567890123",
                           "id>12",
                           "state=done,finished",
                           "seed=1,"})
    EXPECT_THROW(parse_run_filter(text), Error) << text;
  try {
    parse_run_filter("mixre=attention");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'mixer'"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(RunFilter, UnderstandsPercentAndLists) {
  EXPECT_DOUBLE_EQ(std::get<double>(parse_run_filter("test>=90%").values.at(0)), 0.9);
  EXPECT_DOUBLE_EQ(std::get<double>(parse_run_filter("validation<0.5").values.at(0)), 0.5);
  const RunFilter mixers = parse_run_filter("mixer=mamba,deltanet");
  ASSERT_EQ(mixers.values.size(), 2u);
  EXPECT_EQ(std::get<std::string>(mixers.values[1]), "deltanet");
  EXPECT_EQ(sql_condition({mixers, parse_run_filter("lr!=1,2,3")}), "1 AND mixer IN (?,?) AND lr NOT IN (?,?,?)");
}

}  // namespace
}  // namespace mneme::store
