#include "store/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/sample_lab.h"
#include "support/children.h"

namespace mneme::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample_run;
using testing::sample_summary;
using testing::SampleLab;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ids(const std::vector<RunRecord>& records) {
  std::vector<std::string> result;
  for (const RunRecord& record : records) result.push_back(record.id);
  return result;
}

std::vector<std::string> matching(Index& index, const std::vector<std::string>& filters) {
  RunQuery query;
  for (const std::string& filter : filters) query.filters.push_back(parse_run_filter(filter));
  return ids(index.query(query));
}

// Breaks the file the way a dying disk does: zeros in the middle of every page but the first.
void overwrite_pages(const Path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(stream.tellg());
  ASSERT_GT(size, 4096);
  for (std::int64_t page = 4096; page < size; page += 4096) {
    stream.seekp(page);
    stream << std::string(512, '\x5a');
  }
}

TEST(Index, KnowsARunAfterUpdate) {
  const SampleLab sample;
  Index index = Index::open(sample.lab);
  EXPECT_THAT(index.query(), IsEmpty());
  const std::string id = sample.add_done({"train.lr=2e-3"}, 0.75, 0.5);
  index.update(sample.lab.run(id));
  const auto record = index.find(id);
  ASSERT_TRUE(record);
  const RunRecord truth = read_record(sample.lab.run(id));
  EXPECT_EQ(record->state, RunState::done);
  EXPECT_EQ(record->lr, 2e-3);
  EXPECT_EQ(record->validation_accuracy, 0.75);
  EXPECT_EQ(record->test_accuracy, 0.5);
  EXPECT_EQ(record->config, truth.config);
  EXPECT_EQ(record->summary, truth.summary);
  EXPECT_EQ(record->changed, truth.changed);
  EXPECT_THAT(index.notices(), IsEmpty());
}

TEST(Index, HoldsEveryEvaluation) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  {
    const RunWriter writer = RunWriter::begin(sample.lab.run(run.id), run.json(), 0, "test");
    for (int step = 1; step <= 3; ++step)
      writer.append_metric({{"step", step},
                            {"split", "validation"},
                            {"values", {{"accuracy", 0.25 * step}}},
                            {"times", {{"seconds", 1.0 * step}}}});
  }
  Index index = Index::open(sample.lab);
  ASSERT_EQ(index.metrics(run.id).size(), 3u);
  EXPECT_EQ(index.metrics(run.id)[2].step, 3);
  EXPECT_EQ(index.metrics(run.id)[2].values, "{\"accuracy\":0.75}");
  EXPECT_EQ(index.metrics(run.id)[2].seconds, 3.0);
  std::filesystem::remove_all(sample.lab.run(run.id).path());
  EXPECT_THAT(Index::open(sample.lab).metrics(run.id), IsEmpty());
}

TEST(Index, FiltersAndSortsByColumnsAndConfiguration) {
  const SampleLab sample;
  const std::string a = sample.add_done({"train.lr=1e-3", "train.seed=1"}, 0.9, 0.9);
  const std::string b = sample.add_done({"train.lr=1e-2", "train.seed=1"}, 0.2, 0.2);
  const std::string c = sample.add_done({"train.lr=1e-2", "train.seed=2", "task.length=16", "task.vocab=32"}, 0.4, 0.4);
  Index index = Index::open(sample.lab);
  EXPECT_THAT(matching(index, {"lr=1e-3"}), ElementsAre(a));
  EXPECT_THAT(matching(index, {"lr>1e-3"}), UnorderedElementsAre(b, c));
  EXPECT_THAT(matching(index, {"lr>1e-3", "seed!=1"}), ElementsAre(c));
  EXPECT_THAT(matching(index, {"task.length=16"}), ElementsAre(c));
  EXPECT_THAT(matching(index, {"task.filler=random", "validation<0.3"}), ElementsAre(b));
  EXPECT_THAT(matching(index, {"model.tied=true"}), UnorderedElementsAre(a, b, c));
  EXPECT_THAT(matching(index, {"outcome=diverged"}), IsEmpty());

  RunQuery query;
  query.order = {{parse_run_key("validation"), true}};
  EXPECT_THAT(ids(index.query(query)), ElementsAre(a, c, b));
  query.order = {{parse_run_key("task.length"), true}, {parse_run_key("lr"), false}};
  query.limit = 2;
  EXPECT_THAT(ids(index.query(query)), ElementsAre(c, a));
  EXPECT_EQ(index.count({parse_run_filter("lr=1e-2")}), 2);
}

TEST(Index, ValuesAreNeverReadAsSql) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  Index index = Index::open(sample.lab);
  for (const char* hostile :
       {"mixer=x' OR '1'='1", "mixer=\"; DROP TABLE runs; --", "mixer=%", "task.filler=' OR 1 --"})
    EXPECT_THAT(matching(index, {hostile}), IsEmpty()) << hostile;
  EXPECT_THAT(index.ids_with_prefix("%"), IsEmpty());
  EXPECT_THAT(index.ids_with_prefix("' OR 1"), IsEmpty());
  EXPECT_EQ(index.count(), 1);
  EXPECT_THAT(index.ids_with_prefix(id.substr(0, 4)), ElementsAre(id));
}

TEST(Index, SeesDirectoriesThatCameAndWent) {
  const SampleLab sample;
  const std::string a = sample.add_done({"train.seed=1"});
  EXPECT_THAT(ids(Index::open(sample.lab).query()), ElementsAre(a));
  const std::string b = sample.add_done({"train.seed=2"});
  std::filesystem::remove_all(sample.lab.run(a).path());
  EXPECT_THAT(ids(Index::open(sample.lab).query()), ElementsAre(b));
}

TEST(Index, FollowsARunThatHasNotEnded) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  EXPECT_EQ(Index::open(sample.lab).find(run.id)->state, RunState::fresh);
  {
    const RunWriter writer = RunWriter::begin(directory, run.json(), 0, "test");
    EXPECT_EQ(Index::open(sample.lab).find(run.id)->state, RunState::running);
  }
  write_file_atomically(directory.checkpoint(), "x");
  EXPECT_EQ(Index::open(sample.lab).find(run.id)->state, RunState::interrupted);
  testing::put_summary(directory, run, sample_summary(run, "failed", 0.1, 0));
  EXPECT_EQ(Index::open(sample.lab).find(run.id)->state, RunState::failed);
  testing::put_summary(directory, run, sample_summary(run, "diverged", 0.1, 0));
  EXPECT_EQ(Index::open(sample.lab).find(run.id)->state, RunState::diverged);
}

TEST(Index, AMissingFileIsMadeAgainWithANotice) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  EXPECT_THAT(Index::open(sample.lab).notices(), ElementsAre(HasSubstr("built the index")));
  EXPECT_THAT(Index::open(sample.lab).notices(), IsEmpty());
  std::filesystem::remove(sample.lab.index());
  Index index = Index::open(sample.lab);
  EXPECT_THAT(ids(index.query()), ElementsAre(id));
  EXPECT_THAT(index.notices(), ElementsAre(HasSubstr("built the index")));
}

TEST(Index, ADamagedFileIsMadeAgainWithANotice) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  const std::string garbage(10000, 'x');
  for (const std::string& content : {garbage, std::string("SQLite format 3"), garbage.substr(0, 50)}) {
    write_file_atomically(sample.lab.index(), content);
    Index index = Index::open(sample.lab);
    EXPECT_THAT(ids(index.query()), ElementsAre(id));
    EXPECT_THAT(index.notices(), ElementsAre(HasSubstr("damaged")));
    EXPECT_THAT(Index::open(sample.lab).notices(), IsEmpty());
    EXPECT_EQ(read_file(sample.lab.index().string() + ".damaged"), content);
  }
}

TEST(Index, DamageInsideTheFileIsRepairedWhenItIsMet) {
  const SampleLab sample;
  for (int seed = 0; seed < 40; ++seed) sample.add_done({"train.seed=" + std::to_string(seed)});
  Index::open(sample.lab).rebuild();
  overwrite_pages(sample.lab.index());
  Index index = Index::open(sample.lab);
  EXPECT_EQ(index.query().size(), 40u);
  EXPECT_THAT(index.notices(), ::testing::Contains(HasSubstr("damaged")));
}

TEST(Index, AnotherVersionsTablesAreReplaced) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  {
    Database other(sample.lab.index());
    other.execute("CREATE TABLE runs (something TEXT)");
    other.execute("PRAGMA user_version = 99");
  }
  EXPECT_THAT(ids(Index::open(sample.lab).query()), ElementsAre(id));
}

TEST(Index, WithoutAUsableFileItWorksFromTheDirectories) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  std::filesystem::create_directories(sample.lab.index());
  Index index = Index::open(sample.lab);
  EXPECT_THAT(ids(index.query()), ElementsAre(id));
  EXPECT_THAT(index.notices(), ElementsAre(HasSubstr("cannot use the index")));
}

TEST(Index, DamagedRunDirectoriesAreReportedAndTheOthersKept) {
  const SampleLab sample;
  const std::string good = sample.add_done({"train.seed=1"});
  const std::string bad = sample.add_done({"train.seed=2"});
  Index index = Index::open(sample.lab);
  EXPECT_EQ(index.count(), 2);
  write_file_atomically(sample.lab.run(bad).path() / "config.json", "{}");
  std::filesystem::create_directories(sample.lab.runs() / "empty-after-a-crash");
  write_file_atomically(sample.lab.runs() / "a-file", "not a run");
  index.rebuild();
  EXPECT_THAT(ids(index.query()), ElementsAre(good));
  EXPECT_THAT(index.damaged(), ElementsAre(HasSubstr(bad)));
}

TEST(Index, ManyProcessesWriteAtOnce) {
  const SampleLab sample;
  constexpr int kProcesses = 8, kRuns = 10;
  std::vector<std::string> expected;
  for (int seed = 0; seed < kProcesses * kRuns; ++seed)
    expected.push_back(sample.add_done({"train.seed=" + std::to_string(seed)}));
  testing::in_children(kProcesses, [&](int process) {
    Index index = Index::open(sample.lab);
    for (int i = 0; i < kRuns; ++i)
      index.update(sample.lab.run(expected[static_cast<std::size_t>(process * kRuns + i)]));
    if (!index.notices().empty() && index.notices()[0].find("built the index") == std::string::npos)
      throw std::runtime_error(index.notices()[0]);
  });
  Index index = Index::open(sample.lab);
  EXPECT_THAT(index.notices(), IsEmpty());
  EXPECT_EQ(index.count(), kProcesses * kRuns);
}

}  // namespace
}  // namespace mneme::store
