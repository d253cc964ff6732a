// Python versions of mixers of the catalog (python/examples/zoo.py), trained next to the C++ ones from the same
// weights.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "catalog/python_mixer.h"
#include "config/run_config.h"
#include "core/files.h"
#include "core/timing.h"
#include "mixers/python_mixer.h"
#include "ops/ghost_device.h"
#include "ops/path.h"
#include "support/places.h"
#include "support/slow.h"
#include "support/temporary_directory.h"
#include "train/trainer.h"
#include "worker/python_mixers.h"

namespace mneme::mixers {
namespace {

class PythonZoo : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string bridge = binary_directory() + "/libmneme_python.so";
    if (!std::filesystem::exists(bridge))
      GTEST_SKIP() << "the bridge to Python is not built: script/bootstrap --python, then configure again";
    ::setenv("MNEME_PYTHON_BRIDGE", bridge.c_str(), 1);
    ::setenv("MNEME_CACHE", store_.path().c_str(), 1);
    catalog::use_python_mixers(std::make_shared<worker::BridgedMixers>());
  }

  static config::RunConfig run(const std::string& mixer, const std::vector<std::string>& more = {}) {
    ConfigValue root{ConfigTable{}, "test"};
    std::vector<std::string> overrides = {"task.length=32", "task.pairs=4",   "task.vocab=64",
                                          "model.width=32", "model.layers=2", "train.batch=16",
                                          "train.lr=3e-3",  "train.steps=50", "model.mixer=" + mixer};
    overrides.insert(overrides.end(), more.begin(), more.end());
    for (const std::string& assignment : overrides) apply_override(root, assignment);
    return config::resolve_run(root);
  }
  static std::string zoo(const std::string& name) { return source_directory() + "/python/examples/zoo.py:" + name; }

  static void copy_weights(const train::FlatParameters& from, const train::FlatParameters& to) {
    ASSERT_EQ(from.size(), to.size());
    const torch::NoGradGuard guard;
    for (const auto& segment : from.segments()) {
      bool found = false;
      for (const auto& other : to.segments()) {
        if (other.name != segment.name || other.shape != segment.shape) continue;
        to.values.narrow(0, other.offset, other.size).copy_(from.values.narrow(0, segment.offset, segment.size));
        found = true;
      }
      EXPECT_TRUE(found) << segment.name;
    }
  }

  testing::TemporaryDirectory store_;
};

TEST_F(PythonZoo, LossesAgreeWithThoseOfTheCatalog) {
  for (const auto& [mixer, name] : {std::pair{"attention", "Attention"}, {"gru", "Gru"}, {"deltanet", "DeltaNet"}}) {
    const config::RunConfig ours = run(mixer), theirs = run(zoo(name));
    train::Trainer cpp(ours), python(theirs);
    copy_weights(cpp.parameters(), python.parameters());
    double worst = 0;
    for (int step = 0; step < 50; ++step) worst = std::max(worst, std::abs(cpp.step().loss - python.step().loss));
    EXPECT_LT(worst, 1e-4) << mixer;
    RecordProperty(std::string("worst_") + mixer, std::to_string(worst));
  }
}

TEST_F(PythonZoo, TwoTrainersOfOneRunHaveTheSameBits) {
  const config::RunConfig config = run(zoo("Gru"));
  train::Trainer first(config), second(config);
  EXPECT_EQ(first.parameters().hash(), second.parameters().hash());
  for (int step = 0; step < 3; ++step) EXPECT_EQ(first.step().loss, second.step().loss);
  EXPECT_EQ(first.parameters().hash(), second.parameters().hash());
  // Another seed is another start.
  const config::RunConfig other = run(zoo("Gru"), {"train.seed=7"});
  EXPECT_NE(train::Trainer(other).parameters().hash(), train::Trainer(config).parameters().hash());
}

TEST_F(PythonZoo, TheModelCanDrawTheWeightsOfLinearLayers) {
  const config::RunConfig by_module = run(zoo("Attention")),
                          by_model = run(zoo("Attention"), {"model.Attention.init_by=model"}), ours = run("attention");
  train::Trainer theirs(by_module), same(by_model), cpp(ours);
  EXPECT_EQ(same.parameters().hash(), cpp.parameters().hash());
  EXPECT_NE(theirs.parameters().hash(), cpp.parameters().hash());
}

TEST_F(PythonZoo, CountsAndOrderAreThoseOfTheCatalog) {
  for (const auto& [mixer, name] : {std::pair{"attention", "Attention"}, {"gru", "Gru"}, {"deltanet", "DeltaNet"}}) {
    const config::RunConfig ours = run(mixer), theirs = run(zoo(name));
    EXPECT_EQ(ours.parameters(), theirs.parameters()) << mixer;
    EXPECT_EQ(ours.model.text("positions"), theirs.model.text("positions")) << mixer;
  }
  // What is measured of the work is within a factor of the formula's.
  const config::RunConfig ours = run("gru"), theirs = run(zoo("Gru"));
  EXPECT_EQ(ours.state(), theirs.state());
  EXPECT_GT(theirs.forward_flops_per_example(), 0.8 * ours.forward_flops_per_example());
  EXPECT_LT(theirs.forward_flops_per_example(), 2 * ours.forward_flops_per_example());
}

// A buffer, a dropout and a state: what a module of PyTorch has beside its parameters. PyTorch 2 looks for a module of
// its own for the device of tests, whose name is HPU there, when Python first makes a tensor on it.
constexpr const char* kRich = R"(import sys
import types
import torch

sys.modules.setdefault("torch.hpu", types.SimpleNamespace(_lazy_init=lambda: None))

class Rich(torch.nn.Module):
    def __init__(self, width, *, rate=0.2):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.drop = torch.nn.Dropout(rate)
        self.register_buffer("mix", torch.randn(width, width) / width ** 0.5)

    def initial_state(self, batch):
        return {"sum": self.mix.new_zeros(batch, self.mix.shape[0]), "count": self.mix.new_zeros(batch, 1)}

    def step(self, state, x):
        state = {"sum": state["sum"] + x, "count": state["count"] + 1}
        return self.inner(self.drop(state["sum"] / state["count"] @ self.mix)), state

    def forward(self, x):
        state, outputs = self.initial_state(x.shape[0]), []
        for token in x.unbind(1):
            y, state = self.step(state, token)
            outputs.append(y)
        return torch.stack(outputs, 1)
)";

// No GPU is needed for this: the device of tests refuses raw access, and an operation between it and the CPU fails.
TEST_F(PythonZoo, TrainsOffTheCpuAsOnIt) {
  const Path file = store_.path() / "rich.py";
  write_file_atomically(file, kRich);
  for (const std::string& mixer : {file.string() + ":Rich", zoo("Attention"), zoo("Gru"), zoo("DeltaNet")}) {
    const config::RunConfig config = run(mixer, {"task.length=16", "train.batch=4"});
    train::Trainer here(config), there(config, testing::ghost_device());
    EXPECT_EQ(here.parameters().hash(), there.parameters().hash()) << mixer;
    double worst = 0;
    for (int step = 0; step < 5; ++step) {
      const ops::ScopedComposed composed;
      worst = std::max(worst, std::abs(here.step().loss - there.step().loss));
    }
    EXPECT_LT(worst, 1e-4) << mixer;
  }
}

TEST_F(PythonZoo, StepsOffTheCpuAsOnIt) {
  const Path file = store_.path() / "rich.py";
  write_file_atomically(file, kRich);
  const torch::NoGradGuard guard;
  for (const std::string& mixer : {file.string() + ":Rich", zoo("Gru")}) {
    const config::RunConfig config = run(mixer);
    const auto build = [&] {
      return build_python_mixer(*config.mixers.front().entry, {.width = 32, .length = 6, .layer = 0, .layers = 1},
                                config.mixers.front().options);
    };
    const MixerPointer here = build(), there = build();
    const train::FlatParameters on_cpu(*here, torch::kCPU), off_cpu(*there, testing::ghost_device());
    MixerState state_here = here->initial_state(2), state_there = there->initial_state(2);
    for (int t = 0; t < 6; ++t) {
      const torch::Tensor x = torch::full({2, 32}, 0.1 * t), y = here->step(state_here, x);
      const torch::Tensor z = there->step(state_there, x.to(testing::ghost_device()));
      EXPECT_EQ(z.device(), testing::ghost_device());
      EXPECT_LT((y - z.cpu()).abs().max().item<double>(), 1e-5) << mixer;
    }
  }
}

// Generators beside torch's that a constructor may draw from.
TEST_F(PythonZoo, WeightsDrawnWithNumPyComeFromTheSeedToo) {
  const Path file = store_.path() / "drawn.py";
  write_file_atomically(
      file,
      "import random\nimport numpy\nimport torch\nclass Drawn(torch.nn.Module):\n"
      "  def __init__(self, width):\n    super().__init__()\n    self.scale = random.random()\n"
      "    self.w = torch.nn.Parameter(torch.tensor(numpy.random.randn(width), dtype=torch.float32))\n"
      "  def forward(self, x): return x * self.w * self.scale\n");
  const std::string mixer = file.string() + ":Drawn";
  const config::RunConfig config = run(mixer), other = run(mixer, {"train.seed=7"});
  train::Trainer first(config), second(config), third(other);
  EXPECT_EQ(first.parameters().hash(), second.parameters().hash());
  EXPECT_NE(first.parameters().hash(), third.parameters().hash());
  EXPECT_EQ(first.step().loss, second.step().loss);
}

// Seconds of the quickest step of each, taken in turns: other work on the machine only ever adds time.
std::vector<double> quickest_steps(const std::vector<std::function<void()>>& steps, int turns) {
  std::vector<double> quickest(steps.size(), INFINITY);
  for (int turn = 0; turn <= turns; ++turn)
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      steps[i]();
      // The first turn touches the memory.
      if (turn > 0) quickest[i] = std::min(quickest[i], seconds_since(start));
    }
  return quickest;
}

// A timing, so none of the fast tests; bench/results/python-bridge.json keeps what it printed.
TEST_F(PythonZoo, SlowTheBridgeCostsAtMostATenth) {
  MNEME_SLOW_TEST();
  const std::vector<std::string> size = {"task.length=64", "task.vocab=128", "model.width=64", "train.batch=64"};
  Json table = Json::array();
  for (const auto& [mixer, name] : {std::pair{"attention", "Attention"}, {"gru", "Gru"}, {"deltanet", "DeltaNet"}}) {
    const config::RunConfig ours = run(mixer, size), theirs = run(zoo(name), size);
    train::Trainer kernels(ours), composed(ours), python(theirs);
    const auto with_tensor_operations = [](train::Trainer& trainer) {
      const ops::ScopedComposed guard;
      trainer.step();
    };
    const auto seconds = quickest_steps(
        {[&] { kernels.step(); }, [&] { with_tensor_operations(composed); }, [&] { with_tensor_operations(python); }},
        20);
    table.push_back({{"mixer", mixer},
                     {"kernels_ms", 1e3 * seconds[0]},
                     {"composed_ms", 1e3 * seconds[1]},
                     {"python_ms", 1e3 * seconds[2]},
                     {"python_speed_of_composed", seconds[1] / seconds[2]}});
    if (std::string(mixer) == "attention") {
      EXPECT_GE(seconds[1] / seconds[2], 0.9);
    }
  }
  std::printf("%s\n", table.dump(1).c_str());
}

}  // namespace
}  // namespace mneme::mixers
