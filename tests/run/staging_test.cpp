#include "run/staging.h"

#include <gtest/gtest.h>

#include "store/sample_lab.h"

namespace mneme::run {
namespace {

bool always(const std::function<void()>& action) {
  action();
  return true;
}

// Kept weights, evaluations and inspections are in folders of a run's directory.
TEST(Staging, FoldersOfARunComeAlongBothWays) {
  const testing::SampleLab sample;
  const std::string id = sample.add_done();
  const Path kept = sample.lab.run(id).path();
  file_system().create_directories(kept / "evaluations");
  file_system().create_directories(kept / "inspect/deep");
  write_file_atomically(kept / "evaluations/length-1f03ab.json", "{\"name\": \"length-1f03ab\"}\n");
  write_file_atomically(kept / "inspect/deep/numbers.json", "{}\n");
  const std::string summary = read_file(kept / "summary.json");

  const Staging staging(sample.directory / "local", sample.lab);
  staging.fetch(id);
  const Path staged = staging.directory(id).path();
  EXPECT_EQ(read_file(staged / "evaluations/length-1f03ab.json"), "{\"name\": \"length-1f03ab\"}\n");
  EXPECT_EQ(read_file(staged / "inspect/deep/numbers.json"), "{}\n");

  // What the run wrote here.
  file_system().create_directories(staged / "weights");
  write_file_atomically(staged / "weights/100.safetensors", "weights");
  write_file_atomically(staged / "alive.1", "a mark of this machine");
  ASSERT_TRUE(staging.publish(id, 1, always));
  EXPECT_EQ(read_file(kept / "evaluations/length-1f03ab.json"), "{\"name\": \"length-1f03ab\"}\n");
  EXPECT_EQ(read_file(kept / "inspect/deep/numbers.json"), "{}\n");
  EXPECT_EQ(read_file(kept / "weights/100.safetensors"), "weights");
  EXPECT_EQ(read_file(kept / "summary.json"), summary);
  EXPECT_FALSE(std::filesystem::exists(kept / "alive.1"));
  EXPECT_FALSE(std::filesystem::exists(staged));
}

TEST(Staging, WhoLostTheLeaseChangesNothing) {
  const testing::SampleLab sample;
  const std::string id = sample.add_done();
  const Path kept = sample.lab.run(id).path();
  file_system().create_directories(kept / "evaluations");
  write_file_atomically(kept / "evaluations/a.json", "old");
  const Staging staging(sample.directory / "local", sample.lab);
  staging.fetch(id);
  write_file_atomically(staging.directory(id).path() / "evaluations/a.json", "new");
  EXPECT_FALSE(staging.publish(id, 1, [](const std::function<void()>&) { return false; }));
  EXPECT_EQ(read_file(kept / "evaluations/a.json"), "old");
}

}  // namespace
}  // namespace mneme::run
