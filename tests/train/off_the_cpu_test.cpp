// Whole runs on a device whose memory cannot be read from here: embedding, dropout, loss head, optimiser, evaluation,
// checkpoints and hashes work there, and give what the CPU gives but for rounding.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "ops/ghost_device.h"
#include "support/expect_error.h"
#include "support/temporary_directory.h"
#include "train/device.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

using testing::ghost_device;

// Kernels against composed operations, over a few steps of AdamW.
constexpr double kTolerance = 2e-3;

struct Listener : TrainObserver {
  Json metrics = Json::array();
  std::int64_t stop_after = -1, step = 0;
  void on_step(const Progress& progress) override { step = progress.step; }
  void on_metric(std::int64_t, const Json& values) override { metrics.push_back(values); }
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return step == stop_after; }
};

void expect_near(const Json& a, const Json& b, const std::string& where) {
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items())
      if (key != "weights_sha256") expect_near(value, b.value(key, Json()), where + "/" + key);
  } else if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) expect_near(a[i], b[i], where + "/" + std::to_string(i));
  } else if (a.is_number() && b.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), kTolerance * std::max(1.0, std::abs(a.get<double>()))) << where;
  } else {
    EXPECT_EQ(a, b) << where;
  }
}

config::RunConfig run_of(const std::string& task_and_model, const std::string& train = "") {
  return config::resolve_run(
      parse_toml(task_and_model +
                     "\n[train]\nbatch = 6\nmicro_batch = 4\nsteps = 4\neval_every = 2\neval_examples = 9\n"
                     "test_examples = 9\nclip = 0.5\ndecay_exempt = 'vectors'\n" +
                     train,
                 "test"));
}

constexpr const char* kRuns[] = {
    "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\nembed_dropout = 0.1\nresid_dropout = 0.1\n",
    "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\nmixer = 'mamba'\nblock = 'mamba'\ntied = false\n",
    "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\nblock = 'parallel'\npositions = 'relative'\n",
    "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\nblock = 'postnorm'\npositions = 'sinusoidal'\n",
    "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nwidth = 8\nmixer = 'linear_attention'\npositions = 'rope'\n"
    "head_bias = true\n",
    "[task]\nname = 'copying'\npattern = 2\nblanks = 3\n[model]\nwidth = 8\nmixer = 'gru'\nblock = 'plain'\n"
    "input = 'linear'\n[test]\nalong = 'blanks'\nvalues = [3, 5]\nexamples = 5\n",
    "[task]\nname = 'counting'\nlength = 24\nisi = 3\niti = [2, 4]\n[model]\nwidth = 8\nmixer = 'lstm'\n[test]\n"
    "phases = true\ntraces = 1\n",
};

class RunOffTheCpu : public ::testing::TestWithParam<const char*> {};

TEST_P(RunOffTheCpu, GivesWhatTheCpuGives) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of(GetParam());
  Listener here, there;
  const TrainResult expected = Trainer(run).train(directory / "here", here);
  const TrainResult found = Trainer(run, ghost_device()).train(directory / "there", there);
  expect_near(expected.values, found.values, "values");
  expect_near(expected.traces, found.traces, "traces");
  expect_near(here.metrics, there.metrics, "metrics");
  EXPECT_EQ(here.metrics.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RunOffTheCpu, ::testing::ValuesIn(kRuns));

TEST(OffTheCpu, AResumedRunEqualsAnUninterruptedOneToTheBit) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of(kRuns[0]);
  Listener whole, before, after;
  const TrainResult expected = Trainer(run, ghost_device()).train(directory / "whole", whole);
  before.stop_after = 3;
  Trainer(run, ghost_device()).train(directory / "cut", before);
  Trainer trainer(run, ghost_device());
  trainer.restore(directory / "cut");
  EXPECT_EQ(trainer.position(), 3);
  EXPECT_EQ(trainer.train(directory / "cut", after).values.dump(), expected.values.dump());
  EXPECT_EQ(read_file(directory / "cut"), read_file(directory / "whole"));
}

TEST(OffTheCpu, ACheckpointIsReadOnAnyDevice) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of(kRuns[0]);
  Listener listener;
  listener.stop_after = 2;
  Trainer there(run, ghost_device());
  there.train(directory / "cut", listener);
  Trainer here(run);
  here.restore(directory / "cut");
  EXPECT_EQ(here.parameters().hash(), there.parameters().hash());
}

TEST(OffTheCpu, ADivergedHeadIsNotHidden) {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = run_of(kRuns[0], "lr = 1e6\n");
  Listener listener;
  Trainer trainer(run, ghost_device());
  trainer.model().parameters().front().data().fill_(std::nan(""));
  EXPECT_EQ(trainer.train(directory / "c", listener).outcome, Outcome::diverged);
}

// Debian's libtorch has neither.
TEST(Device, OneThatThisLibtorchLacksIsAnErrorThatSaysWhatToDo) {
  using ::testing::HasSubstr;
  EXPECT_EQ(device_of("cpu"), torch::Device(torch::kCPU));
  const auto refusal = [](const char* name) { return testing::error_of(ErrorKind::usage, [&] { device_of(name); }); };
  if (!at::hasCUDA()) {
    EXPECT_THAT(refusal("cuda:1"), ::testing::AllOf(HasSubstr("this libtorch has no CUDA, got cuda:1, expected cpu"),
                                                    HasSubstr("docs/building.md")));
  }
  if (!at::hasMPS()) {
    EXPECT_THAT(refusal("mps"), HasSubstr("this libtorch has no MPS"));
  }
}

}  // namespace
}  // namespace mneme::train
