#include "config/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::config {
namespace {

using ::testing::HasSubstr;

RunConfig from(const std::string& model, const std::string& task = "mqar") {
  return resolve_run(parse_toml("task.name = '" + task + "'\n[model]\n" + model, "run.toml"));
}

std::string error_of(const std::string& model, const std::string& task = "mqar") {
  try {
    from(model, task);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "no error";
}

TEST(ModelConfig, AutoIsWhatTheBlockIsKnownFor) {
  const auto resolved = [](const std::string& block) {
    const Json model = from("block = '" + block + "'\n").json()["model"];
    return model["state_mixer"].get<std::string>() + " " + model["final_norm"].get<std::string>() + " " +
           model["init"].get<std::string>();
  };
  EXPECT_EQ(resolved("zoology"), "mlp layernorm zoology");
  EXPECT_EQ(resolved("parallel"), "mlp layernorm zoology");
  EXPECT_EQ(resolved("mamba"), "none layernorm mamba");
  EXPECT_EQ(resolved("postnorm"), "none none torch");
  EXPECT_EQ(resolved("plain"), "none none torch");
}

TEST(ModelConfig, ResolvingAgainChangesNothing) {
  const std::pair<const char*, const char*> cases[] = {
      {"block = 'plain'\nmixer = 'rnn'\nembed_width = 1\n", "counting"},
      {"block = 'plain'\nmixer = 'nru+mamba'\ninput = 'raw'\nlayers = 3\n", "counting"},
      {"block = 'plain'\nmixer = 'lstm+gru'\nembed_width = 10\nstate_mixer = 'glu'\n", "copying"},
      {"mixer = 'attention+hyena'\npositions = 'rope'\n", "mqar"},
      {"mixer = 's4d'\npositions = 'relative'\nblock = 'postnorm'\nhead_bias = true\n", "mqar"},
      {"state_mixer = 'none'\npositions = 'sinusoidal'\ninput = 'linear'\n", "mqar"},
      {"mixer = 'mamba'\nblock = 'mamba'\n", "state_tracking"},
  };
  for (const auto& [model, task] : cases) {
    const RunConfig once = from(model, task);
    const RunConfig twice = resolve_run(config_from_json(parse_json(canonical(once.json()), "test"), "test"));
    EXPECT_EQ(canonical(once.json()), canonical(twice.json()));
    EXPECT_EQ(once.id, twice.id);
    EXPECT_EQ(once.warnings, twice.warnings);
  }
}

TEST(ModelConfig, AMixerAloneHasNoTableOfAStateMixer) {
  const Json model = from("state_mixer = 'none'\n").json()["model"];
  EXPECT_FALSE(model.contains("mlp"));
  EXPECT_EQ(model["state_mixer"], "none");
}

TEST(ModelConfig, PlainStacksMayHaveAnotherWidthInFront) {
  const RunConfig run =
      from("block = 'plain'\nmixer = 'lstm+mamba'\nembed_width = 3\nlayers = 4\nstate_mixer = 'mlp'\n");
  EXPECT_EQ(run.context(0).width, 3);
  EXPECT_EQ(run.context(2).width, 64);
  EXPECT_EQ(run.state_context(0).width, 64);
  EXPECT_EQ(run.mixers[0].options.integer("hidden_size"), 64);
  EXPECT_FALSE(run.model.flag("tied"));
  EXPECT_EQ(from("block = 'plain'\nmixer = 'rnn'\ninput = 'raw'\n", "counting").model.integer("embed_width"), 1);
}

TEST(ModelConfig, PositionsHaveTheirSizes) {
  const RunConfig relative = from("positions = 'relative'\n"), sinusoidal = from("positions = 'sinusoidal'\n");
  EXPECT_EQ(relative.model.integer("max_shift"), 64);
  EXPECT_EQ(relative.model.integer("max_positions"), 0);
  EXPECT_EQ(sinusoidal.model.integer("max_shift"), 0);
  for (const char* positions : {"learned", "sinusoidal", "relative", "rope"})
    EXPECT_TRUE(from(std::string("positions = '") + positions + "'\n").warnings.empty()) << positions;
  EXPECT_EQ(from("positions = 'none'\n").warnings.size(), 1U);
}

TEST(ModelConfig, WhatDoesNotFitIsRejectedWithItsPlace) {
  EXPECT_EQ(error_of("block = 'sandwich'\n"),
            "[run.toml:3:1] model.block: got \"sandwich\", expected one of zoology, mamba, postnorm, plain, parallel");
  EXPECT_THAT(error_of("embed_width = 8\n"),
              HasSubstr("[run.toml:3:1] model.embed_width: got 8, expected the width 64"));
  EXPECT_THAT(error_of("block = 'plain'\nmixer = 'mamba'\nembed_width = 8\n"),
              HasSubstr("mamba has as many output channels as input channels"));
  EXPECT_THAT(error_of("block = 'plain'\nmixer = 'rnn'\nembed_width = 8\ntied = true\n"),
              HasSubstr("[run.toml:6:1] model.tied: got true, expected false"));
  EXPECT_THAT(error_of("input = 'linear'\ntied = true\n"), HasSubstr("model.tied"));
  EXPECT_THAT(error_of("input = 'raw'\nembed_width = 8\nblock = 'plain'\nmixer = 'rnn'\n"), HasSubstr("expected 8192"));
  EXPECT_THAT(error_of("input = 'embedding'\n", "counting"), HasSubstr("a signal has no tokens"));
  EXPECT_THAT(error_of("block = 'parallel'\nstate_mixer = 'none'\n"), HasSubstr("model.state_mixer: got \"none\""));
  EXPECT_THAT(error_of("mixer = 'rnn'\nrnn = { hidden_size = 32 }\n"), HasSubstr("expected 0 or the model's width 64"));
  EXPECT_THAT(error_of("positions = 'rope'\nattention = { rope = false }\n"),
              HasSubstr("expected true with model.positions"));
  EXPECT_THAT(error_of("positions = 'rope'\nmixer = 'rnn'\nblock = 'plain'\nembed_width = 1\n"),
              HasSubstr("model.positions"));
  EXPECT_THAT(error_of("max_positions = 8\n"), HasSubstr("at least the task's length 64"));
}

}  // namespace
}  // namespace mneme::config
