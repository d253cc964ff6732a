#include "store/run_notes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "store/index.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::store {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::SampleLab;

TEST(RunNotes, AreNoPartOfTheRun) {
  const SampleLab sample;
  const std::string id = sample.add_done({"train.lr=0.001"});
  const RunDirectory directory = sample.lab.run(id);
  const std::string config = read_file(directory.path() / "config.json");
  EXPECT_TRUE(read_notes(directory).empty());
  change_notes(directory, [](RunNotes& notes) { notes = {{"good", "baseline", "good"}, "a spike,\nat step 900"}; });
  EXPECT_THAT(read_notes(directory).tags, ElementsAre("baseline", "good"));
  EXPECT_EQ(read_notes(directory).note, "a spike,\nat step 900");
  EXPECT_EQ(read_file(directory.path() / "config.json"), config);
  EXPECT_EQ(read_record(directory).id, id);
  change_notes(directory, [](RunNotes& notes) { notes = {}; });
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "notes.json"));
}

TEST(RunNotes, CanBeLookedFor) {
  const SampleLab sample;
  const std::string first = sample.add_done({"train.lr=0.001"}), second = sample.add_done({"train.lr=0.002"});
  change_notes(sample.lab.run(first), [](RunNotes& notes) { notes = {{"good", "base-1"}, "Spike, at 900"}; });
  change_notes(sample.lab.run(second), [](RunNotes& notes) { notes = {{"goods"}, ""}; });
  Index index = Index::open(sample.lab);
  const auto found = [&](const std::string& filter) {
    std::vector<std::string> ids;
    for (const RunRecord& record : index.query({{parse_run_filter(filter)}, {}, -1})) ids.push_back(record.id);
    return ids;
  };
  EXPECT_THAT(found("tag=good"), ElementsAre(first)) << "not 'goods'";
  EXPECT_EQ(found("tag=good,goods").size(), 2u);
  EXPECT_THAT(found("tag!=good,base-1"), ElementsAre(second));
  EXPECT_THAT(found("note=spike, at"), ElementsAre(first));
  EXPECT_THAT(found("note!=spike"), ElementsAre(second));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { found("tag=godo"); }),
              HasSubstr("unknown tag 'godo', did you mean 'good'?"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { found("tag>good"); }), HasSubstr("expected = or !="));
  EXPECT_EQ(index.tags(), (std::map<std::string, std::int64_t>{{"base-1", 1}, {"good", 1}, {"goods", 1}}));
  EXPECT_THAT(index.find(first)->notes.tags, ElementsAre("base-1", "good"));
}

TEST(RunNotes, TwoAtOnceLoseNothing) {
  const SampleLab sample;
  const RunDirectory directory = sample.lab.run(sample.add_done({"train.lr=0.001"}));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 5; ++i)
        change_notes(directory, [&](RunNotes& notes) { notes.tags.push_back(fmt::format("t{}-{}", thread, i)); });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_notes(directory).tags.size(), 20u);
}

TEST(RunNotes, WhatCannotBeATagOrANoteIsRefused) {
  for (const char* tag : {"", "a b", "a,b", "a=b", "-x", "ü", "<script>", "0123456789012345678901234567890123456789x"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { check_tag(tag); }), HasSubstr("letters, digits and . _ -")) << tag;
  for (const char* tag : {"a", "v1.2_rc-3", "7"}) check_tag(tag);
  EXPECT_NE(error_of(ErrorKind::usage, [] { check_note("\x1b[2J"); }), "");
  EXPECT_NE(error_of(ErrorKind::usage, [] { check_note("\xff"); }), "");
  EXPECT_NE(error_of(ErrorKind::usage, [] { check_note(std::string(3000, 'x')); }), "");
}

TEST(RunNotes, DamagedNotesDoNotHideTheRun) {
  const SampleLab sample;
  const std::string id = sample.add_done({"train.lr=0.001"});
  for (const char* text : {"{", "[]", "{\"tags\": 3, \"note\": \"\"}", "{\"tags\": [\"a b\"], \"note\": \"\"}"}) {
    write_file_atomically(sample.lab.run(id).path() / "notes.json", text);
    EXPECT_NE(error_of(ErrorKind::data, [&] { read_notes(sample.lab.run(id)); }), "") << text;
    EXPECT_TRUE(read_record(sample.lab.run(id)).notes.empty());
  }
  EXPECT_TRUE(Index::open(sample.lab).find(id));
}

}  // namespace
}  // namespace mneme::store
