// The real programs in a lab of their own, from arguments to exit code.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/subprocess.h"
#include "store/sample_lab.h"
#include "support/places.h"

namespace mneme::testing {

inline const std::vector<std::string> kTiny = {"task.length=8",         "task.pairs=1",          "task.vocab=16",
                                               "model.width=8",         "model.layers=1",        "train.batch=4",
                                               "train.eval_examples=8", "train.test_examples=8", "train.steps=5"};

inline std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class AppTest : public ::testing::Test {
 protected:
  ProcessResult mneme(const std::vector<std::string>& arguments) const {
    return run_process(
        joined({"env", "MNEME_LAB=" + sample.lab.root().string(), binary_directory() + "/mneme"}, arguments));
  }
  Json json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const ProcessResult result = mneme(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out, "output");
  }

  std::set<Path> report_directories() const {
    std::set<Path> found;
    for (const auto& entry : std::filesystem::directory_iterator(sample.lab.reports())) found.insert(entry.path());
    return found;
  }

  SampleLab sample;
};

}  // namespace mneme::testing
