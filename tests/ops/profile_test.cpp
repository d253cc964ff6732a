#include "ops/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "mixers/mixer.h"
#include "train/trainer.h"

namespace mneme::ops {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;
using ::testing::IsSupersetOf;

using Names = std::set<std::string>;

config::RunConfig tiny(const std::string& extra = "") {
  return config::resolve_run(
      parse_toml("task = { length = 16, pairs = 2, vocab = 64 }\n"
                 "model = { width = 16, resid_dropout = 0.1" +
                     extra +
                     " }\n"
                     "train = { batch = 8, micro_batch = 4 }\n",
                 "test"));
}

std::vector<ProfileCell> profile_of(train::Trainer& trainer, int steps = 1) {
  const Profile profile;
  for (int step = 0; step < steps; ++step) trainer.step();
  return profile.cells();
}

Names parts_of(const std::vector<ProfileCell>& cells) {
  Names names;
  for (const ProfileCell& cell : cells) names.insert(cell.part);
  return names;
}

Names operations_of(const std::vector<ProfileCell>& cells, const std::string& part, bool backward) {
  Names names;
  for (const ProfileCell& cell : cells)
    if (cell.part == part && cell.backward == backward) names.insert(cell.operation);
  return names;
}

TEST(Profile, NamesEveryPartOfAModel) {
  const config::RunConfig run = tiny(", mixer = \"attention+mamba\"");
  train::Trainer trainer(run);
  EXPECT_EQ(parts_of(profile_of(trainer)), Names({"attention", "data", "embedding", "head", "mamba", "mlp",
                                                  "norms, residual", "optimiser", kRestPart}));
}

TEST(Profile, OfASignalModelNamesTheSameParts) {
  const config::RunConfig run =
      config::resolve_run(parse_toml("task = { name = \"counting\" }\nmodel = { mixer = \"lstm\", width = 8 }\n"
                                     "train = { batch = 4, steps = 1 }",
                                     "test"));
  train::Trainer trainer(run);
  EXPECT_THAT(parts_of(profile_of(trainer)), IsSupersetOf({"data", "embedding", "head", "lstm", "optimiser"}));
}

TEST(Profile, BackwardOperationsBelongToThePartOfTheirForward) {
  const config::RunConfig run = tiny();
  train::Trainer trainer(run);
  const std::vector<ProfileCell> cells = profile_of(trainer);
  for (const bool backward : {false, true}) {
    EXPECT_THAT(operations_of(cells, "attention", backward), Contains("AttentionLayer"));
    EXPECT_THAT(operations_of(cells, "embedding", backward), Contains("Lookup"));
    EXPECT_THAT(operations_of(cells, "mlp", backward), Contains("GeluMlp"));
    EXPECT_THAT(operations_of(cells, "norms, residual", backward), Contains("AddAndNorm"));
  }
  EXPECT_THAT(operations_of(cells, "head", false), Contains("SoftmaxHead"));
  // What walks the graph is in no part only before the first node.
  EXPECT_THAT(operations_of(cells, kRestPart, true), IsSubsetOf({std::string(kEngine)}));
  EXPECT_EQ(operations_of(cells, "optimiser", true), Names());
}

TEST(Profile, CountsEveryMomentOnce) {
  const config::RunConfig run = tiny();
  train::Trainer trainer(run);
  double sum = 0;
  std::map<std::string, std::int64_t> calls;
  for (const ProfileCell& cell : profile_of(trainer, 2)) {
    EXPECT_GE(cell.seconds, 0);
    sum += cell.seconds;
    if (!cell.backward) calls[cell.part + ": " + cell.operation] += cell.calls;
  }
  EXPECT_GT(sum, 0);
  EXPECT_EQ(calls["attention: AttentionLayer"], 2 * 2 * 2) << "steps x micro-batches x layers";
  EXPECT_EQ(calls["optimiser: own code"], 2 * 2) << "clearing and updating";
}

TEST(Profile, ChangesNoBitOfTheResult) {
  for (const char* mixer : {"attention", "mamba", "lstm", "rwkv7", "hyena"}) {
    const config::RunConfig run = tiny(std::string(", mixer = \"") + mixer + "\"");
    train::Trainer plain(run), watched(run);
    for (int step = 0; step < 2; ++step) plain.step();
    profile_of(watched, 2);
    EXPECT_EQ(plain.parameters().hash(), watched.parameters().hash()) << mixer;
  }
}

TEST(Profile, PartsWithoutAProfileDoNothing) {
  const Part outer("outer");
  const Profile profile;
  {
    const Part inner("inner");
    torch::zeros({2}).add_(1);
  }
  EXPECT_EQ(parts_of(profile.cells()), Names({"inner", kRestPart}));
}

TEST(Profile, EndsWithItsLife) {
  { const Profile profile; }
  torch::zeros({2}).add_(1);
  const Profile profile;
  EXPECT_EQ(profile.cells().size(), 1u);
}

}  // namespace
}  // namespace mneme::ops
