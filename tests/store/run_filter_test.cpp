#include "store/run_filter.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::store {
namespace {

TEST(RunFilter, ReadsKeyComparisonAndValue) {
  const RunFilter rate = parse_run_filter("lr>=1e-3");
  EXPECT_EQ(rate.key.column, "lr");
  EXPECT_EQ(rate.comparison, ">=");
  EXPECT_EQ(std::get<double>(rate.value), 1e-3);

  const RunFilter mixer = parse_run_filter("mixer=attention");
  EXPECT_EQ(mixer.comparison, "=");
  EXPECT_EQ(std::get<std::string>(mixer.value), "attention");

  const RunFilter id = parse_run_filter("id=123456789012");
  EXPECT_EQ(std::get<std::string>(id.value), "123456789012");

  const RunFilter length = parse_run_filter("task.length!=64");
  EXPECT_EQ(length.key.path, "$.task.length");
  EXPECT_EQ(std::get<double>(length.value), 64);
  EXPECT_EQ(std::get<double>(parse_run_filter("model.tied=true").value), 1);
}

TEST(RunFilter, RefusesWhatIsNotAFilter) {
  for (const char* text : {"", "lr", "=3", "lr=", "lr=<3", "lr=>3", "lr!3", "mixre=attention", "config.x=1", "task.=1",
                           "task.a'b=1", "task.length) --=1"})
    EXPECT_THROW(parse_run_filter(text), Error) << text;
  try {
    parse_run_filter("mixre=attention");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'mixer'"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

}  // namespace
}  // namespace mneme::store
