#include "store/run_code.h"

#include <gtest/gtest.h>

#include "store/lease_holder.h"
#include "store/sample_lab.h"
#include "store/trash.h"
#include "support/expect_error.h"

namespace mneme::store {
namespace {

using testing::SampleLab;

void write_environment(const RunDirectory& directory, const Json& environment) {
  write_file_atomically(directory.path() / "environment.json", environment.dump());
}

TEST(RunCode, IsWhatTheEnvironmentSays) {
  const SampleLab sample;
  const RunDirectory directory = sample.lab.run(sample.add_done());
  EXPECT_EQ(match_code(directory), CodeMatch::unknown);
  write_environment(directory, {{"mneme", "0.1.0"}});
  EXPECT_EQ(match_code(directory), CodeMatch::unknown) << "as runs were written before builds were recorded";
  write_environment(directory, {{"mneme", this_code().version}, {"code", this_code().build}});
  EXPECT_EQ(match_code(directory), CodeMatch::same);
  write_environment(directory, {{"mneme", this_code().version}, {"code", "000000000000"}});
  EXPECT_EQ(match_code(directory), CodeMatch::other);
  write_file_atomically(directory.path() / "environment.json", "{");
  EXPECT_EQ(match_code(directory), CodeMatch::unknown);
}

TEST(RunCode, OfARunThatWentOnWithAnotherProgramIsBoth) {
  const SampleLab sample;
  const RunDirectory directory = sample.lab.run(sample.add_done());
  const Json old = {{"mneme", "0.1.0-dev"}, {"code", "000000000000"}};
  const Json now = {{"mneme", this_code().version}, {"code", this_code().build}};
  write_environment(directory, old);
  EXPECT_EQ(environment_for(directory, now), now) << "nothing was trained yet: it begins with us";
  write_file_atomically(directory.checkpoint(), "x");
  const Json both = environment_for(directory, now);
  EXPECT_EQ(both["earlier"], Json::array({old}));
  write_environment(directory, both);
  EXPECT_EQ(match_code(directory), CodeMatch::other);
  EXPECT_EQ(environment_for(directory, now), both) << "told once";
}

TEST(Trash, KeepsEveryRemovedGeneration) {
  const SampleLab sample;
  const auto leases = open_leases(sample.lab, {.holder = our_holder()});
  const std::string id = sample.add_done();
  const Path first = move_to_trash(sample.lab, id, *leases);
  sample.add_done();
  const Path second = move_to_trash(sample.lab, id, *leases);
  EXPECT_NE(first, second);
  for (const Path& place : {first, second}) EXPECT_TRUE(std::filesystem::exists(place / "summary.json")) << place;
  EXPECT_FALSE(std::filesystem::exists(sample.lab.run(id).path()));
  EXPECT_TRUE(leases->live().empty());
}

TEST(Trash, RefusesARunThatIsTrained) {
  const SampleLab sample;
  const auto leases = open_leases(sample.lab, {.holder = our_holder()});
  const config::RunConfig run = testing::sample_run();
  const RunWriter writer = RunWriter::begin(sample.lab.run(run.id), run.json(), 0, "test");
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { move_to_trash(sample.lab, run.id, *leases); }),
              ::testing::HasSubstr("is running"));
  EXPECT_TRUE(std::filesystem::exists(sample.lab.run(run.id).path()));
}

}  // namespace
}  // namespace mneme::store
