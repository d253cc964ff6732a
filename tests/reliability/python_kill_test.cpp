// kill -9 of a worker that trains a Python mixer: what goes on ends with the bytes of a run that was never disturbed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "catalog/python_mixer.h"
#include "run/python_mixers.h"
#include "store/sample_lab.h"
#include "support/worker_process.h"

namespace mneme {
namespace {

using testing::deterministic_part;
using testing::sample_run;
using testing::SampleLab;
using testing::WorkerProcess;

// With a dropout and a random buffer of its own: both must come back as they were.
constexpr const char* kMixer = R"(import torch

class Leaky(torch.nn.Module):
    def __init__(self, width, *, rate=0.2):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.drop = torch.nn.Dropout(rate)
        self.register_buffer("mix", torch.randn(width, width) / width ** 0.5)

    def forward(self, x):
        past = torch.cumsum(x, 1) / torch.arange(1, x.shape[1] + 1, device=x.device).unsqueeze(1)
        return self.inner(self.drop(past @ self.mix))
)";

class PythonKills : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(binary_directory() + "/libmneme_python.so"))
      GTEST_SKIP() << "the bridge to Python is not built: script/bootstrap --python, then configure again";
    ::setenv("MNEME_CACHE", (files_ / "cache").c_str(), 1);
    ::setenv("MNEME_WORKER", (binary_directory() + "/mneme-worker").c_str(), 1);
    catalog::use_python_mixers(std::make_shared<run::AskedMixers>());
    write_file_atomically(files_ / "leaky.py", kMixer);
  }
  void TearDown() override {
    ::unsetenv("MNEME_CACHE");
    ::unsetenv("MNEME_WORKER");
    catalog::use_python_mixers(nullptr);
  }

  testing::TemporaryDirectory files_;
};

TEST_F(PythonKills, ResumeIsBitwiseEqualAlsoWithoutTheFile) {
  const config::RunConfig run =
      sample_run({"model.mixer=" + (files_ / "leaky.py").string() + ":Leaky", "train.steps=40", "train.eval_every=5"});
  const SampleLab quiet, disturbed;
  WorkerProcess undisturbed(run, quiet.lab.run(run.id));
  ASSERT_EQ(undisturbed.wait_for_end(), 0) << undisturbed.error_tail();
  const std::string expected = deterministic_part(quiet.lab.run(run.id));
  const store::RunDirectory directory = disturbed.lab.run(run.id);
  for (const std::int64_t step : {7, 15, 16}) {
    WorkerProcess worker(run, directory);
    worker.wait([&](const Json& event) { return event["event"] == "checkpoint" && event["step"] >= step; });
    worker.signal(SIGKILL);
    ASSERT_EQ(worker.wait_for_end(), 128 + SIGKILL) << worker.error_tail();
    // What the run was planned from is gone: its directory has what it needs.
    std::filesystem::remove_all(files_ / "cache");
    std::filesystem::remove(files_ / "leaky.py");
  }
  WorkerProcess last(run, directory);
  ASSERT_EQ(last.wait_for_end(), 0) << last.error_tail();
  EXPECT_EQ(deterministic_part(directory), expected);
}

TEST_F(PythonKills, TwoWorkersAtOnceHaveTheSameBits) {
  const config::RunConfig run = sample_run({"model.mixer=" + (files_ / "leaky.py").string() + ":Leaky"});
  const SampleLab one, other;
  WorkerProcess first(run, one.lab.run(run.id)), second(run, other.lab.run(run.id));
  ASSERT_EQ(first.wait_for_end(), 0) << first.error_tail();
  ASSERT_EQ(second.wait_for_end(), 0) << second.error_tail();
  EXPECT_EQ(deterministic_part(one.lab.run(run.id)), deterministic_part(other.lab.run(run.id)));
}

}  // namespace
}  // namespace mneme
