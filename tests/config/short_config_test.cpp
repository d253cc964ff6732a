#include "config/short_config.h"

#include <gtest/gtest.h>

namespace mneme::config {
namespace {

TEST(ShortConfig, ResolvesToTheSameRunWithFewFields) {
  for (const std::string text :
       {"", "train.seed = 5\n", "model.mixer = 'mamba'\nmodel.mamba.conv = false\nmodel.width = 128\n",
        "task.name = 'counting'\ntrain.examples = 100\ntrain.epochs = 3\n",
        "model.mixer = 'attention+mamba'\ntest.along = 'length'\ntest.values = [64, 128]\n"}) {
    const RunConfig run = resolve_run(parse_toml(text, "test"));
    const Json config = short_config(run.json());
    EXPECT_EQ(resolve_run(config_from_json(config, "test")).id, run.id) << text;
    EXPECT_LE(config.flatten().size(), 5U) << config;
  }
}

}  // namespace
}  // namespace mneme::config
