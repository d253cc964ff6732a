// script/golden writes cases that `mneme verify` judges: the recipe of CONTRIBUTING.md, run.
#include <gmock/gmock.h>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using GoldenScript = testing::AppTest;
using ::testing::HasSubstr;

TEST_F(GoldenScript, WritesACaseThatTheMixerMeetsAndOneThatItMisses) {
  if (run_process({"/usr/bin/python3", "-c", "import torch"}).exit_code != 0)
    GTEST_SKIP() << "no PyTorch for Python here (Debian: python3-torch)";
  const std::string module = source_directory() + "/tests/golden/ema.py",
                    script = source_directory() + "/script/golden";
  const std::string good = sample.directory / "good.safetensors";
  const ProcessResult written = run_process({script, module, good});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(mneme({"verify", good}).exit_code, 0);

  // The planted fault: another recurrence under the same names.
  std::string text = read_file(module);
  const std::string recurrence = "a * state + (1 - a) * token";
  text.replace(text.find(recurrence), recurrence.size(), "a * state + token");
  write_file_atomically(sample.directory / "wrong.py", text);
  const std::string wrong = sample.directory / "wrong.safetensors";
  ASSERT_EQ(run_process({script, sample.directory / "wrong.py", wrong}).exit_code, 0);
  EXPECT_NE(mneme({"verify", wrong}).exit_code, 0);

  write_file_atomically(sample.directory / "empty.py", "MIXER = 'ema'\n");
  const ProcessResult empty = run_process({script, sample.directory / "empty.py", wrong});
  EXPECT_NE(empty.exit_code, 0);
  EXPECT_THAT(empty.err, HasSubstr("does not define CONFIG, SOURCE, build"));
}

}  // namespace
}  // namespace mneme::cli
