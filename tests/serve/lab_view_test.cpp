#include "serve/lab_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "store/run_writer.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::serve {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample_run;
using testing::sample_summary;

// With everything read.
struct WholeView : LabView {
  explicit WholeView(const store::Lab& lab) : LabView(lab) { read_all(); }
};

// All rounds in which every run is looked at once.
Changes look(LabView& view) {
  Changes all;
  for (int round = 0; round < 4; ++round) {
    const Changes one = view.poll();
    all.runs.insert(all.runs.end(), one.runs.begin(), one.runs.end());
    all.studies.insert(all.studies.end(), one.studies.begin(), one.studies.end());
    all.other |= one.other;
  }
  return all;
}

// True once nothing changes any more: what has just been written is looked at twice.
bool comes_to_rest(LabView& view) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (!look(view).any()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Every file of a directory with its time and its bytes.
std::map<std::string, std::pair<std::string, fs::file_time_type>> everything_in(const Path& root) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    files[entry.path().string()] = {entry.is_regular_file() ? read_file(entry.path()) : "", entry.last_write_time()};
  return files;
}

class LabViewTest : public ::testing::Test {
 protected:
  testing::SampleLab sample;
  void write_study(const std::string& key, const std::vector<std::string>& runs) const {
    write_file_atomically(sample.lab.studies() / (key + ".json"),
                          Json{{"name", key}, {"title", "A study"}, {"scale", ""}, {"runs", runs}}.dump());
  }
};

TEST_F(LabViewTest, BeginsWithWhatThereIs) {
  const std::string a = sample.add_done({"train.seed=1"}, 0.75, 0.5), b = sample.add_done({"train.seed=2"});
  write_study("one", {a, b, "000000000000"});
  WholeView view(sample.lab);
  EXPECT_EQ(view.runs().size(), 2U);
  EXPECT_EQ(view.find(a)->state, store::RunState::done);
  EXPECT_EQ(view.find(a)->accuracy(), 0.5);
  EXPECT_EQ(view.find("000000000000"), nullptr);
  EXPECT_THAT(view.studies_of(a), ElementsAre("one"));
  EXPECT_EQ(view.fields().value(b, "train.seed"), 2);
  EXPECT_EQ(view.facts(a)->budget, 5);
  EXPECT_TRUE(comes_to_rest(view));
}

// A lab without an index can be large: what is in it is known at once, and read in portions.
TEST_F(LabViewTest, BeginsBeforeTheLabIsRead) {
  const std::string known = sample.add_done({"train.seed=1"});
  store::Index::open(sample.lab);
  std::vector<std::string> runs = {known};
  for (int seed = 2; seed <= 100; ++seed) runs.push_back(sample.add_done({"train.seed=" + std::to_string(seed)}));
  write_study("one", runs);
  LabView view(sample.lab);
  EXPECT_NE(view.find(known), nullptr);
  EXPECT_EQ(view.runs().size(), 1U);
  EXPECT_EQ(view.unread(), 99U);
  EXPECT_TRUE(view.is_unread(runs.back()));
  // One that is asked for is read out of turn.
  view.read_now(runs.back());
  EXPECT_NE(view.find(runs.back()), nullptr);
  EXPECT_EQ(view.unread(), 98U);
  const std::uint64_t before = view.generation();
  const Changes changes = view.read_more();
  EXPECT_FALSE(changes.runs.empty());
  EXPECT_LT(changes.runs.size(), 98U);
  EXPECT_THAT(changes.studies, ElementsAre("one"));
  EXPECT_GT(view.generation(), before);
  // One that is deleted meanwhile is not waited for.
  std::string gone;
  for (const std::string& run : runs)
    if (view.is_unread(run)) gone = run;
  fs::remove_all(sample.lab.run(gone).path());
  view.read_all();
  EXPECT_EQ(view.unread(), 0U);
  EXPECT_EQ(view.runs().size(), 99U);
  EXPECT_EQ(view.find(gone), nullptr);
}

TEST_F(LabViewTest, SeesARunFromItsBeginningToItsEnd) {
  WholeView view(sample.lab);
  const config::RunConfig run = sample_run();
  write_study("one", {run.id});
  EXPECT_THAT(look(view).studies, Contains("one"));
  std::uint64_t before = view.generation();
  {
    const auto writer = store::RunWriter::begin(sample.lab.run(run.id), run.json(), 0, "test");
    EXPECT_THAT(look(view).runs, Contains(run.id));
    EXPECT_EQ(view.find(run.id)->state, store::RunState::running);
    EXPECT_GT(view.generation(), before);
    before = view.generation();
    writer.append_metric(
        {{"step", 2}, {"split", "validation"}, {"values", {{"accuracy", 0.25}}}, {"times", {{"seconds", 1}}}});
    const Changes changes = view.poll();  // a run that is being trained is looked at in every round
    EXPECT_THAT(changes.runs, ElementsAre(run.id));
    EXPECT_THAT(changes.studies, ElementsAre("one"));
    EXPECT_EQ(view.find(run.id)->validation, 0.25);
    EXPECT_EQ(view.study("one")->results, 0U) << "a run under way is no result";
    writer.write_summary(sample_summary(run, "done", 1.0, 1.0));
    EXPECT_THAT(view.poll().runs, ElementsAre(run.id));
    EXPECT_EQ(view.find(run.id)->state, store::RunState::done);
    EXPECT_GT(view.study("one")->results, 0U);
  }
  EXPECT_TRUE(comes_to_rest(view));
  fs::remove_all(sample.lab.run(run.id).path());
  EXPECT_THAT(look(view).runs, Contains(run.id));
  EXPECT_EQ(view.find(run.id), nullptr);
}

TEST_F(LabViewTest, SeesThatAWorkerHasDied) {
  const config::RunConfig run = sample_run();
  auto writer =
      std::make_unique<store::RunWriter>(store::RunWriter::begin(sample.lab.run(run.id), run.json(), 0, "test"));
  WholeView view(sample.lab);
  EXPECT_EQ(view.find(run.id)->state, store::RunState::running);
  writer.reset();
  look(view);
  EXPECT_EQ(view.find(run.id)->state, store::RunState::fresh);
}

TEST_F(LabViewTest, SeesAResultThatIsTakenBack) {
  const std::string id = sample.add_done();
  WholeView view(sample.lab);
  fs::remove(sample.lab.run(id).path() / "summary.json");
  EXPECT_THAT(look(view).runs, Contains(id));
  EXPECT_EQ(view.find(id)->state, store::RunState::fresh);
}

TEST_F(LabViewTest, ADamagedRunIsTroubleToBeTold) {
  const std::string id = sample.add_done(), other = sample.add_done({"train.seed=2"});
  WholeView view(sample.lab);
  write_file_atomically(sample.lab.run(id).path() / "summary.json", "{\"outcome\": ");
  look(view);
  ASSERT_EQ(view.damaged().size(), 1U);
  EXPECT_THAT(view.damaged()[0], HasSubstr("summary.json"));
  EXPECT_EQ(view.find(id), nullptr);
  EXPECT_NE(view.find(other), nullptr);
  write_file_atomically(sample.lab.run(id).path() / "summary.json", sample_summary(sample_run(), "done", 1, 1).dump());
  look(view);
  EXPECT_THAT(view.damaged(), IsEmpty());
  EXPECT_NE(view.find(id), nullptr);
}

TEST_F(LabViewTest, ALabThatIsGoneKeepsItsLastPictureAndMayComeBack) {
  const std::string id = sample.add_done();
  WholeView view(sample.lab);
  fs::rename(sample.lab.root(), sample.directory / "elsewhere");
  EXPECT_TRUE(look(view).other);
  EXPECT_THAT(view.trouble(), HasSubstr("is gone"));
  EXPECT_NE(view.find(id), nullptr);
  fs::rename(sample.directory / "elsewhere", sample.lab.root());
  const std::string late = sample.add_done({"train.seed=9"});
  EXPECT_TRUE(look(view).other);
  EXPECT_EQ(view.trouble(), "");
  EXPECT_NE(view.find(late), nullptr);
}

// RELIABILITY 23, in the state that tempts most: an index that would be built, or rebuilt.
TEST_F(LabViewTest, WritesNothingIntoTheLab) {
  const std::string id = sample.add_done();
  write_study("one", {id});
  for (const char* index : {"none", "good", "damaged", "old"}) {
    if (std::string(index) == "good") store::Index::open(sample.lab);
    if (std::string(index) == "damaged") write_file_atomically(sample.lab.index(), std::string(5000, 'x'));
    if (std::string(index) == "old") {
      fs::remove(sample.lab.index());
      store::Database(sample.lab.index()).execute("CREATE TABLE runs (id TEXT); PRAGMA user_version = 1");
    }
    const auto before = everything_in(sample.lab.root());
    WholeView view(sample.lab);
    look(view);
    view.fields();
    EXPECT_NE(view.find(id), nullptr) << index;
    EXPECT_EQ(everything_in(sample.lab.root()), before) << index;
    EXPECT_EQ(view.index().notices().empty(), std::string(index) != "damaged") << index;
  }
}

TEST_F(LabViewTest, RefusesWhatIsNoLab) {
  EXPECT_THAT(testing::error_of(ErrorKind::data, [&] { LabView(store::Lab(sample.directory / "nowhere")); }),
              HasSubstr("is not a lab"));
}

}  // namespace
}  // namespace mneme::serve
