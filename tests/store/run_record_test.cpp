#include "store/run_record.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "store/sample_lab.h"

namespace mneme::store {
namespace {

using testing::sample_run;
using testing::sample_summary;
using testing::SampleLab;

TEST(RunRecord, CopiesWhatTheDirectorySays) {
  const SampleLab sample;
  const std::string id = sample.add_done({"train.lr=3e-3", "train.seed=7"}, 0.75, 0.5);
  const RunRecord record = read_record(sample.lab.run(id));
  EXPECT_EQ(record.id, id);
  EXPECT_EQ(record.state, RunState::done);
  EXPECT_EQ(record.reason, "budget");
  EXPECT_EQ(record.task, "mqar");
  EXPECT_EQ(record.mixer, "attention");
  EXPECT_EQ(record.width, 8);
  EXPECT_EQ(record.layers, 1);
  EXPECT_EQ(record.lr, 3e-3);
  EXPECT_EQ(record.seed, 7);
  EXPECT_EQ(record.validation_accuracy, 0.75);
  EXPECT_EQ(record.test_accuracy, 0.5);
  EXPECT_EQ(record.steps, 5);
  EXPECT_EQ(record.seconds, 1.5);
  EXPECT_EQ(parse_json(record.config, "config").at("train").at("lr"), 3e-3);
  EXPECT_EQ(parse_json(record.summary, "summary").at("id"), id);
  EXPECT_GT(record.changed, 1600000000LL * 1000000000LL);
}

TEST(RunRecord, OfARunUnderWayHasItsLatestEvaluation) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  EXPECT_EQ(read_record(directory).state, RunState::fresh);
  EXPECT_EQ(read_record(directory).validation_accuracy, std::nullopt);
  const RunWriter writer = RunWriter::begin(directory, run.json(), 0, "test");
  writer.append_metric(
      {{"step", 2}, {"split", "validation"}, {"values", {{"accuracy", 0.25}}}, {"times", {{"seconds", 1.0}}}});
  writer.append_metric(
      {{"step", 4}, {"split", "validation"}, {"values", {{"accuracy", 0.5}}}, {"times", {{"seconds", 2.0}}}});
  const RunRecord record = read_record(directory);
  EXPECT_EQ(record.state, RunState::running);
  EXPECT_EQ(record.validation_accuracy, 0.5);
  EXPECT_EQ(record.steps, 4);
  EXPECT_EQ(record.seconds, 2.0);
  EXPECT_EQ(record.summary, "");
}

TEST(RunRecord, NumbersThatWereNotFiniteAreAbsent) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  sample.lab.run(run.id).create(run.json());
  Json summary = sample_summary(run, "diverged", 0, 0);
  summary["values"]["validation"]["accuracy"] = nullptr;
  testing::put_summary(sample.lab.run(run.id), run, summary);
  const RunRecord record = read_record(sample.lab.run(run.id));
  EXPECT_EQ(record.state, RunState::diverged);
  EXPECT_EQ(record.validation_accuracy, std::nullopt);
  EXPECT_EQ(record.test_accuracy, std::nullopt);
}

TEST(RunRecord, DamageIsAnErrorThatNamesTheDirectory) {
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"config.json", ""},
      {"config.json", "{}"},
      {"config.json", "[1]"},
      {"summary.json", "{\"out"},
      {"summary.json", "[]"},
      {"summary.json", "{\"outcome\": 3}"},
      {"summary.json", "{\"outcome\": \"done\", \"reason\": {}}"},
  };
  for (const auto& [file, text] : damages) {
    const SampleLab sample;
    const std::string id = sample.add_done();
    write_file_atomically(sample.lab.run(id).path() / file, text);
    try {
      read_record(sample.lab.run(id));
      ADD_FAILURE() << file << " holding " << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find(id), std::string::npos) << error.what();
    }
  }
}

TEST(RunRecord, AChangedConfigurationIsNoticed) {
  const SampleLab sample;
  const std::string id = sample.add_done();
  const Path file = sample.lab.run(id).path() / "config.json";
  std::string text = read_file(file);
  text.replace(text.find("\"width\":8"), 9, "\"width\":9");
  write_file_atomically(file, text);
  EXPECT_THROW(read_record(sample.lab.run(id)), Error);
}

}  // namespace
}  // namespace mneme::store
