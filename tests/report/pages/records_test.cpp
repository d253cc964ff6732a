#include "report/pages/records.h"

#include <gtest/gtest.h>

namespace mneme::report {
namespace {

TEST(Records, NumbersHaveEveryDigitAndTextIsQuotedWhereNeeded) {
  const Records records{{{"run", "a,b"}, {"lr", 0.0012345678901234}, {"steps", 2500}, {"open", true}},
                        {{"run", "say \"hi\"\n"}, {"lr", nullptr}, {"later", 1e-300}}};
  EXPECT_EQ(to_csv(records),
            "run,lr,steps,open,later\r\n\"a,b\",0.0012345678901234,2500,true,\r\n"
            "\"say \"\"hi\"\"\n\",,,,1e-300\r\n");
  EXPECT_EQ(to_csv({}), "");
  EXPECT_EQ(to_csv({}, {"run", "lr"}), "run,lr\r\n");
  EXPECT_EQ(to_csv({{{"lr", 1}}}, {"run", "lr"}), "run,lr\r\n,1\r\n");
}

TEST(Records, AMeanHasItsErrorAndItsInterval) {
  Record record;
  add_score(record, "test", summarize(std::vector<double>{0.98, 1.0}, 0.9));
  EXPECT_EQ(record["test_mean"], 0.99);
  EXPECT_NEAR(record["test_standard_error"].get<double>(), 0.01, 1e-12);
  EXPECT_NEAR(record["test_ci95_low"].get<double>(), 0.99 - 12.7062 * 0.01, 1e-5);
  EXPECT_EQ(record["test_ci95_high"], 1.0) << "no accuracy is above 1";
  Record one;
  add_summary(one, "test", summarize(std::vector<double>{0.5}, 0.9));
  EXPECT_TRUE(one["test_standard_error"].is_null());
  EXPECT_TRUE(one["test_ci95_low"].is_null());
}

}  // namespace
}  // namespace mneme::report
