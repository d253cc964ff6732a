// The programs where the bridge to Python was not built: everything else works, and the message says what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class AppWithoutPython : public testing::AppTest {
 protected:
  // As if the library had not been built.
  ProcessResult run(const std::vector<std::string>& arguments) const {
    return run_process(
        joined({"env", "-C", sample.directory.path().string(), "MNEME_CACHE=" + (sample.directory / "cache").string(),
                "MNEME_PYTHON_BRIDGE=" + (sample.directory / "libmneme_python.so").string(),
                "MNEME_LAB=" + sample.lab.root().string(), binary_directory() + "/mneme"},
               arguments));
  }
};

TEST_F(AppWithoutPython, APythonMixerIsRefusedWithThePackagesThatAreMissing) {
  write_file_atomically(sample.directory / "m.py",
                        "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width): super().__init__()\n"
                        "  def forward(self, x): return x\n");
  const std::vector<std::vector<std::string>> commands = {joined(joined({"train"}, kTiny), {"model.mixer=m.py:M"}),
                                                          {"check", "m.py:M"},
                                                          {"show", "mixer", "m.py:M"},
                                                          {"card", "m.py:M", "--scale", "smoke"}};
  for (const auto& command : commands) {
    const ProcessResult result = run(command);
    EXPECT_EQ(result.exit_code, 4) << command.front() << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("libmneme_python.so] Python mixers need this library"),
                      HasSubstr("pybind11-dev, python3-dev and python3-torch"), HasSubstr("docs/python.md")))
        << command.front();
  }
  EXPECT_FALSE(std::filesystem::exists(sample.lab.root() / "runs") &&
               !std::filesystem::is_empty(sample.lab.root() / "runs"));
}

TEST_F(AppWithoutPython, AMixerOfTheCatalogTrains) {
  const ProcessResult result = run(joined(joined({"train"}, kTiny), {"model.mixer=ema", "--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace mneme::cli
