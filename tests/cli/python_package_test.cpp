// The package in python/: the same bytes as the C++ tasks, and runs and weights as they are in a lab.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using testing::joined;
using testing::kTiny;

class PythonPackage : public testing::AppTest {
 protected:
  void SetUp() override {
    if (run_process({"/usr/bin/python3", "-c", "import numpy"}).exit_code != 0)
      GTEST_SKIP() << "/usr/bin/python3 has no NumPy: script/bootstrap --python";
  }
  ProcessResult python(const std::vector<std::string>& arguments) const {
    const std::string root = source_directory();
    return run_process(joined({"env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + root + "/python",
                               "MNEME_TASKS=" + binary_directory() + "/libmneme_tasks.so", "/usr/bin/python3"},
                              arguments));
  }
  static std::string script(const std::string& name) { return source_directory() + "/python/" + name; }
};

TEST_F(PythonPackage, TasksHaveTheGoldenHashes) {
  const ProcessResult result =
      python({script("tests/check_package.py"), "hashes", source_directory() + "/tests/data/task_hashes.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(PythonPackage, ReadsRunsAndWeights) {
  for (const char* seed : {"train.seed=7", "train.seed=8"})
    ASSERT_EQ(mneme(joined(joined({"train"}, kTiny), {seed})).exit_code, 0);
  const std::string lab = sample.lab.root().string();
  const ProcessResult result = python({script("tests/check_package.py"), "lab", lab});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const ProcessResult table = python({script("examples/read_a_lab.py"), lab});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("attention"), std::string::npos) << table.out;
  for (const auto& run : std::filesystem::directory_iterator(sample.lab.root() / "runs")) {
    const ProcessResult weights = python({script("examples/load_weights.py"), run.path().string()});
    EXPECT_EQ(weights.exit_code, 0) << weights.err;
    EXPECT_NE(weights.out.find("Wqkv.weight"), std::string::npos) << weights.out;
  }
}

TEST_F(PythonPackage, ATorchModelLearnsOnATask) {
  if (run_process({"/usr/bin/python3", "-c", "import torch"}).exit_code != 0)
    GTEST_SKIP() << "/usr/bin/python3 has no torch: script/bootstrap --python";
  const ProcessResult result = python({script("examples/train_on_a_task.py")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("step 100: loss "), std::string::npos) << result.out;
}

}  // namespace
}  // namespace mneme::cli
