#include "config/run_config.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/hash.h"

namespace mneme::config {
namespace {

RunConfig from(const std::string& toml) { return resolve_run(parse_toml(toml, "run.toml")); }

std::string error_of(const std::string& toml) {
  try {
    from(toml);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "no error";
}

TEST(RunConfig, DefaultsAreComplete) {
  const RunConfig run = from("");
  EXPECT_EQ(run.task_entry->name, "mqar");
  EXPECT_EQ(run.id.size(), 12U);
  EXPECT_EQ(run.json()["model"]["attention"]["num_heads"], 1);
  EXPECT_EQ(run.json()["model"]["positions"], "learned");
  EXPECT_EQ(run.json()["model"]["max_positions"], 64);
  EXPECT_TRUE(run.warnings.empty());
}

TEST(RunConfig, EvaluationIsASmallShareOfTheWorkUnlessSaidOtherwise) {
  const auto examples = [](const std::string& train) {
    return from("[train]\n" + train).train.integer("eval_examples");
  };
  EXPECT_EQ(examples("batch = 64\nsteps = 1000"), 288);  // 20 times 288 examples forward, 64,000 forward and backward
  EXPECT_EQ(examples("batch = 64\nsteps = 1000\neval_every = 100"), 576);
  EXPECT_EQ(examples("batch = 8\nsteps = 100"), 200) << "enough to tell scores apart";
  EXPECT_EQ(examples("batch = 512\nsteps = 100000"), 1000) << "more would not tell more";
  EXPECT_EQ(examples("batch = 64\nsteps = 1000\neval_examples = 7"), 7);
}

TEST(RunConfig, ResolvingTheCanonicalJsonAgainChangesNothing) {
  for (const char* toml : {"", "[model]\nstate_mixer = 'glu'\npositions = 'none'\n",
                           "[train]\nepochs = 3\nexamples = 1000\nbatch = 300\nseed = 7\n", "[train]\nkeep = [5]\n",
                           "[train]\nstop_at = 0.9\nstop_on = 'exact_match'\n"}) {
    const RunConfig once = from(toml);
    const RunConfig twice = resolve_run(config_from_json(parse_json(canonical(once.json()), "test"), "test"));
    EXPECT_EQ(canonical(once.json()), canonical(twice.json()));
    EXPECT_EQ(once.id, sha256_hex(canonical(once.json())).substr(0, 12)) << "the id is hashed from text made in parts";
    EXPECT_EQ(once.id, twice.id);
  }
}

TEST(RunConfig, IdDependsOnWhatMattersAndNotOnHowItIsWritten) {
  EXPECT_EQ(from("").id, from("[task]\nlength = 64\n[train]\nlr = 0.001\n").id);
  EXPECT_EQ(from("[train]\nlr = 1e-3").id, from("train.lr = 0.0010").id);
  EXPECT_NE(from("").id, from("train.seed = 43").id);
  EXPECT_NE(from("").id, from("[model.attention]\nnum_heads = 2").id);
}

TEST(RunResolver, GivesWhatResolvingAloneGives) {
  RunResolver resolver;
  for (const char* toml : {"", "train.seed = 1", "task.length = 128", "task.length = 128\ntrain.lr = 0.1",
                           "model.mixer = 'mamba'\ntask.length = 128", "model.layers = 3\nmodel.positions = 'none'",
                           "model.layers = 3\nmodel.positions = 'none'\ntrain.seed = 2", ""}) {
    const RunConfig run = resolver.resolve(parse_toml(toml, "run.toml")), alone = from(toml);
    EXPECT_EQ(run.id, alone.id) << toml;
    EXPECT_EQ(run.json(), alone.json()) << toml;
    EXPECT_EQ(run.shape.length, alone.shape.length) << toml;
    EXPECT_EQ(run.warnings, alone.warnings) << toml;
    EXPECT_EQ(run.parameters(), alone.parameters()) << toml;
  }
}

TEST(RunResolver, GoesOnAfterAConfigurationThatCannotBe) {
  RunResolver resolver;
  EXPECT_THROW(resolver.resolve(parse_toml("task.length = 128\nmodel.mixer = 'none such'", "run.toml")), Error);
  EXPECT_EQ(resolver.resolve(parse_toml("task.length = 128", "run.toml")).id, from("task.length = 128").id);
}

TEST(RunConfig, SeedsDeriveFromTheSeedAndCanBeGiven) {
  const RunConfig a = from("train.seed = 1"), b = from("train.seed = 2");
  for (const char* name : {"data_seed", "init_seed", "order_seed", "dropout_seed"})
    EXPECT_NE(a.train.integer(name), b.train.integer(name)) << name;
  EXPECT_NE(a.train.integer("data_seed"), a.train.integer("init_seed"));
  EXPECT_EQ(from("train.data_seed = 5").train.integer("data_seed"), 5);
}

TEST(RunConfig, ErrorsNameTheirPlace) {
  EXPECT_EQ(error_of("[model]\nmixer = 'atention'\n"),
            "[run.toml:2:1] unknown mixer 'atention', did you mean 'attention'?");
  EXPECT_EQ(error_of("[task]\nlenght = 3\n"), "[run.toml:2:1] task: unknown key 'lenght', did you mean 'length'?");
  EXPECT_EQ(error_of("[task]\nlength = 16\npairs = 5\nvocab = 64\n"),
            "[run.toml:3:1] task.pairs: got 5, expected at most length / 4 = 4");
  EXPECT_EQ(error_of("task.length = 33"), "[run.toml:1:6] task.length: got 33, expected a multiple of 2");
  EXPECT_EQ(error_of("task.vocab = 64"), "[run.toml:1:6] task.vocab: got 64, expected more than length = 64");
  EXPECT_EQ(error_of("[trian]\nlr = 1\n"), "[run.toml:1:2] unknown table 'trian', did you mean 'train'?");
  EXPECT_EQ(error_of("[model.attention]\nnum_heads = 3\n"),
            "[run.toml:2:1] model.attention.num_heads: got 3, expected a divisor of the width 64");
  EXPECT_EQ(error_of("train.lr = 'fast'"),
            "[run.toml:1:7] train.lr: got \"fast\", expected a number from 0 to 1000000");
  EXPECT_EQ(error_of("train.epochs = 2"),
            "[run.toml:1:7] train.epochs: got 2, expected train.examples > 0 as well: without a finite training set "
            "there are no epochs");
}

TEST(RunConfig, ModelsThatCannotWorkAreWarnedAbout) {
  EXPECT_EQ(from("model.positions = 'none'").warnings.size(), 1U);
  EXPECT_TRUE(from("[model]\npositions = 'none'\n[model.attention]\nrope = true\n").warnings.empty());
  EXPECT_TRUE(from("[model]\npositions = 'none'\n[model.attention]\nconv_on = 'k'\n").warnings.empty());
  EXPECT_EQ(from("[model.attention]\nconv_on = 'v'\nconv_pad = 'same'\n").warnings.size(), 1U);
}

TEST(RunConfig, CountsOfTheSpecification) {
  // Attention 4D^2 + 4D = 16640 and MLP 8D^2 + 5D = 33088 at D = 64; two norms a block, one at the end.
  const RunConfig run = from("");
  EXPECT_EQ(run.parameters(), 8192 * 64 + 64 * 64 + 2 * (16640 + 33088 + 4 * 64) + 2 * 64);
  EXPECT_EQ(run.state(), 2 * 2 * 64 * 64);
}

// What a layer shares with the first of its kind depends on the layers of its own mixer, not on its depth.
TEST(RunConfig, LayersCountThoseOfTheSameMixerBelow) {
  const RunConfig run = from("[model]\nmixer = 'rwkv7+attention'\nlayers = 5\n");
  std::vector<std::int64_t> earlier;
  for (std::int64_t layer = 0; layer < 5; ++layer) earlier.push_back(run.context(layer).earlier);
  EXPECT_EQ(earlier, (std::vector<std::int64_t>{0, 0, 1, 1, 2}));
}

TEST(RunConfig, TheDeviceIsPartOfTheRunUnlessItIsTheCpu) {
  const auto on = [](const std::string& device) { return from("train.device = '" + device + "'"); };
  EXPECT_EQ(on("cpu").id, from("").id);
  EXPECT_FALSE(on("cpu").json()["train"].contains("device"));
  EXPECT_NE(on("cuda").id, from("").id);
  EXPECT_EQ(on("cuda:0").id, on("cuda").id) << "one device, two names";
  EXPECT_NE(on("cuda:1").id, on("cuda").id);
  EXPECT_EQ(on("mps").json()["train"]["device"], "mps");
  for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:01", "cuda:-1", "cuda:1000", "CPU", ""})
    EXPECT_EQ(error_of("train.device = '" + std::string(wrong) + "'"),
              "[run.toml:1:7] train.device: got \"" + std::string(wrong) + "\", expected cpu, cuda, cuda:N or mps");
}

TEST(RunConfig, OptionsWithoutEffectAreCanonicalInTheId) {
  const auto id = [](const std::string& train, const std::string& task = "") {
    return resolve_run(parse_toml(task + "[train]\n" + train, "test")).id;
  };
  const std::string plain = id("");
  EXPECT_EQ(id("give_up_below = 0.45\n"), plain) << "nothing is given up";
  EXPECT_EQ(id("stop_on = \"exact_match\"\n"), plain) << "nothing is stopped";
  EXPECT_EQ(id("signal_loss = \"mse\"\n"), plain) << "tokens are no signal";
  EXPECT_EQ(id("order_seed = 7\n"), plain) << "fresh examples have one order";

  EXPECT_NE(id("give_up_after = 0.5\ngive_up_below = 0.45\n"), id("give_up_after = 0.5\n"));
  EXPECT_NE(id("stop_at = 0.9\nstop_on = \"exact_match\"\n"), id("stop_at = 0.9\n"));
  EXPECT_NE(id("examples = 100\norder_seed = 7\n"), id("examples = 100\n"));
  const std::string counting = "task = { name = \"counting\" }\n";
  EXPECT_NE(id("signal_loss = \"mse\"\n", counting), id("", counting));
}

}  // namespace
}  // namespace mneme::config
