#include "config/run_series.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/hash.h"

namespace mneme::config {
namespace {

ConfigValue toml(const std::string& text) { return parse_toml(text, "run.toml"); }

TEST(RunSeries, GivesWhatResolvingAloneGives) {
  RunSeries series;
  for (const std::string rest : {"", "data_seed = 7\n", "order_seed = 7\n", "order_seed = 7\nexamples = 100\n",
                                 "init_seed = -1\n", "stop_on = 'exact_match'\nstop_at = 0.9\n", "keep = [1, 2]\n"})
    for (const char* free : {"lr = 1e-3\nseed = 1", "lr = 1e-3\nseed = 2", "lr = 0.02\nseed = 2", "lr = 1\nseed = 3",
                             "lr = 1\nseed = 3\nweight_decay = 0", "lr = 1\nseed = 4\nweight_decay = 1", "seed = 4"})
      for (const char* others : {"", "[task]\nlength = 128\n", "[test]\nalong = 'length'\nvalues = [64]\n"}) {
        const std::string text = fmt::format("{}[train]\n{}{}\n", others, rest, free);
        const RunConfig run = series.resolve(toml(text)), alone = resolve_run(toml(text));
        EXPECT_EQ(run.id, alone.id) << text;
        EXPECT_EQ(run.json(), alone.json()) << text;
        EXPECT_EQ(run.id, sha256_hex(canonical(run.json())).substr(0, 12)) << text;
      }
}

TEST(RunSeries, TheShortWayIsTakenByEveryFreeOption) {
  for (const char* option : {"lr", "seed", "weight_decay", "warmup", "clip", "beta1", "beta2"}) {
    RunSeries series;
    for (const char* value : {"0.5", "0.25", "0.5"}) {
      ConfigValue root = toml("[train]\nseed = 5\nlr = 1\n[task]\nlength = 64\n");
      apply_override(root, fmt::format("train.{}={}", option, option == std::string("seed") ? value + 2 : value));
      EXPECT_EQ(series.resolve(root).id, resolve_run(root).id) << option;
    }
  }
}

TEST(RunSeries, EarlierRunsStayAsTheyWere) {
  RunSeries series;
  const RunConfig first = series.resolve(toml("train.lr = 1e-3"));
  const std::string before = canonical(first.json());
  series.resolve(toml("train.lr = 1e-2"));
  EXPECT_EQ(canonical(first.json()), before);
}

TEST(RunSeries, AMistakeIsNamedAndTheNextRunIsRight) {
  RunSeries series;
  series.resolve(toml("train.lr = 1"));
  try {
    series.resolve(toml("train.lr = -1"));
    FAIL() << "a negative rate";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "[run.toml:1:7] train.lr: got -1, expected a number from 0 to 1000000");
  }
  EXPECT_EQ(series.resolve(toml("train.lr = 2")).id, resolve_run(toml("train.lr = 2")).id);
}

}  // namespace
}  // namespace mneme::config
