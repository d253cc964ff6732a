#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "core/error.h"
#include "core/random.h"
#include "core/safetensors.h"
#include "support/faulty_file_system.h"
#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

using testing::Fault;
using testing::FaultyFileSystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Survives;
using testing::TemporaryDirectory;

config::RunConfig tiny() {
  return config::resolve_run(
      parse_toml("[task]\nlength = 8\npairs = 1\nvocab = 12\n[model]\nwidth = 4\nlayers = 1\n"
                 "[train]\nbatch = 2\nsteps = 40\neval_every = 2\neval_examples = 4\ntest_examples = 4\n",
                 "test"));
}

// A trainer that has gone `steps` steps.
std::unique_ptr<Trainer> trained(const config::RunConfig& run, int steps) {
  auto trainer = std::make_unique<Trainer>(run);
  for (int i = 0; i < steps; ++i) trainer->step();
  return trainer;
}

using Restore = std::function<void(Trainer& trainer, const Path& file)>;

// How many of the changed files are taken for a checkpoint.
int accepted(const config::RunConfig& run, const std::string& whole, const std::vector<std::string>& changed,
             const Restore& restore) {
  const TemporaryDirectory directory;
  const Path file = directory / "checkpoint.safetensors";
  int count = 0;
  Trainer trainer(run);
  for (const std::string& bytes : changed) {
    if (bytes == whole) continue;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    try {
      restore(trainer, file);
      ++count;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    }
  }
  return count;
}

std::string checkpoint_bytes(const config::RunConfig& run) {
  const TemporaryDirectory directory;
  trained(run, 3)->save(directory / "c.safetensors");
  return read_file(directory / "c.safetensors");
}

std::vector<std::string> byte_flips(const std::string& whole) {
  std::vector<std::string> flips;
  Random random(stream_key(5, "flips"), 0);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random.below(255)));
    flips.push_back(std::move(changed));
  }
  return flips;
}

std::vector<std::string> truncations(const std::string& whole) {
  std::vector<std::string> cut;
  Random random(stream_key(5, "truncations"), 0);
  for (int i = 0; i < 300; ++i) cut.push_back(whole.substr(0, random.below(static_cast<std::uint32_t>(whole.size()))));
  return cut;
}

const Restore kRestore = [](Trainer& trainer, const Path& file) { trainer.restore(file); };

TEST(Checkpoint, EveryByteThatFlipsAndEveryCutIsDetected) {
  const config::RunConfig run = tiny();
  const std::string whole = checkpoint_bytes(run);
  const auto flips = byte_flips(whole), cuts = truncations(whole);
  EXPECT_EQ(accepted(run, whole, flips, kRestore), 0);
  EXPECT_EQ(accepted(run, whole, cuts, kRestore), 0);
  std::printf("%zu bytes flipped one at a time, %zu truncations: all detected\n", flips.size(), cuts.size());
}

TEST(Checkpoint, WithoutTheChecksumDamageWouldPass) {
  const config::RunConfig run = tiny();
  const std::string whole = checkpoint_bytes(run);
  // The planted fault: a reader that believes what parses.
  const Restore believing = [](Trainer&, const Path& file) { static_cast<void>(Safetensors::load(file)); };
  std::vector<std::string> some = byte_flips(whole);
  some.erase(some.begin(), some.end() - 200);
  EXPECT_EQ(accepted(run, whole, some, believing), 200) << "all of them flips of weights";
}

TEST(Checkpoint, TheGenerationBeforeIsUsedAndItIsSaid) {
  const TemporaryDirectory directory;
  const config::RunConfig run = tiny();
  const CheckpointFiles files(directory / "checkpoint.safetensors");
  EXPECT_EQ(files.previous.filename(), "checkpoint.previous.safetensors");
  auto trainer = trained(run, 3);
  trainer->save(files);
  trainer->step();
  trainer->save(files);
  Trainer good(run);
  EXPECT_TRUE(good.recover(files).resumed);
  EXPECT_EQ(good.position(), 4);

  std::string damaged = read_file(files.current);
  damaged[damaged.size() / 2] ^= 1;
  write_file_atomically(files.current, damaged);
  Trainer second(run);
  const Recovery recovery = second.recover(files);
  EXPECT_TRUE(recovery.resumed);
  EXPECT_EQ(second.position(), 3);
  ASSERT_EQ(recovery.notes.size(), 2u);
  EXPECT_THAT(recovery.notes[0], HasSubstr("checksum"));
  EXPECT_THAT(recovery.notes[1], HasSubstr("resumed at step 3 from checkpoint.previous.safetensors"));

  write_file_atomically(files.previous, "nothing");
  Trainer third(run);
  EXPECT_FALSE(third.recover(files).resumed);
  EXPECT_EQ(third.position(), 0);
}

using Saver = std::function<void(const Trainer& trainer, const CheckpointFiles& files)>;

struct Findings {
  std::vector<std::string> problems;
  int points = 0;
};

// Saves step 4 over steps 2 and 3 on a disk that fails at one call: afterwards step 3 or 4 must be there, and 4 if the
// save said so.
bool attempt(const config::RunConfig& run, const Trainer& old, const Trainer& older, const Trainer& now,
             const Saver& saver, Fault fault, int call, Survives survives, Findings& findings) {
  const TemporaryDirectory directory;
  const CheckpointFiles files(directory / "checkpoint.safetensors");
  older.save(files);
  old.save(files);
  FaultyFileSystem disk(fault, call);
  bool success = true;
  std::string message;
  {
    const ScopedFileSystem scope(disk);
    try {
      saver(now, files);
    } catch (const Error& error) {
      success = false;
      message = error.what();
    }
  }
  if (fault == Fault::power_loss) disk.lose_power(survives);
  Trainer recovered(run);
  const bool resumed = recovered.recover(files).resumed;
  const auto report = [&](const std::string& what) {
    findings.problems.push_back(what + " at call " + std::to_string(call));
  };
  if (!resumed || recovered.position() < old.position()) report("lost what was safe");
  if (success && recovered.position() != now.position()) report("false success");
  if (!success && message.find(directory.path().string()) == message.npos) report("the path is not named");
  findings.points += disk.struck() ? 1 : 0;
  return disk.struck();
}

Findings examine(const Saver& saver) {
  const config::RunConfig run = tiny();
  const auto older = trained(run, 2), old = trained(run, 3), now = trained(run, 4);
  Findings findings;
  testing::at_every_fault([&](Fault fault, int call, Survives survives) {
    return attempt(run, *old, *older, *now, saver, fault, call, survives, findings);
  });
  return findings;
}

TEST(Checkpoint, WithstandsAFaultAndAPowerLossAtEveryCall) {
  const Findings findings = examine([](const Trainer& trainer, const CheckpointFiles& files) { trainer.save(files); });
  EXPECT_THAT(findings.problems, IsEmpty());
  EXPECT_GE(findings.points, 6 * 7);
  std::printf("%d faults placed\n", findings.points);
}

TEST(Checkpoint, TheExaminationFindsASaveWithoutSyncOrInPlace) {
  // The planted faults: bytes that are never synced, a file written over itself, an error that is kept quiet.
  const auto copy = [](const Trainer& trainer, const Path& to, bool sync, bool in_place) {
    const TemporaryDirectory directory;
    std::string bytes;
    {
      const ScopedFileSystem real(real_file_system());
      trainer.save(directory / "c");
      bytes = read_file(directory / "c");
    }
    const Path target = in_place ? to : Path(to.string() + ".new");
    auto file = file_system().create(target);
    write_all(*file, std::as_bytes(std::span(bytes)));
    if (sync) file->sync();
    file->close();
    if (!in_place) file_system().rename(target, to);
    file_system().sync_directory(to.parent_path());
  };
  EXPECT_THAT(examine([&](const Trainer& t, const CheckpointFiles& f) { copy(t, f.current, false, false); }).problems,
              Not(IsEmpty()));
  EXPECT_THAT(examine([&](const Trainer& t, const CheckpointFiles& f) {
                try {
                  t.save(f);
                } catch (const Error&) {
                }
              }).problems,
              Not(IsEmpty()));
}

TEST(Checkpoint, RemembersTheMetricsSoFar) {
  const TemporaryDirectory directory;
  const config::RunConfig run = tiny();
  struct Quiet : TrainObserver {
    int steps = 0;
    void on_step(const Progress&) override { ++steps; }
    void on_metric(std::int64_t, const Json&) override {}
    bool wants_checkpoint() override { return false; }
    void on_checkpoint(std::int64_t, double) override {}
    bool wants_stop() override { return steps == 7; }
  } quiet;
  Trainer first(run);
  first.train(directory / "c", quiet);
  Trainer second(run);
  second.restore(directory / "c");
  ASSERT_EQ(second.metrics().size(), 3u);
  EXPECT_EQ(second.metrics(), first.metrics());
  EXPECT_EQ(second.metrics()[2]["step"], 6);
}

}  // namespace
}  // namespace mneme::train
