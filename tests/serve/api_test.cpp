#include "serve/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "core/text.h"
#include "report/pages/study_files.h"
#include "serve/site.h"
#include "store/sample_lab.h"

namespace mneme::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What no answer may contain.
constexpr const char* kSecret = "the content of a file that nobody may read";

class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int seed : {1, 2, 3})
      for (const char* rate : {"1e-3", "1e-2"})
        runs.push_back(sample.add_done({"train.lr=" + std::string(rate), "train.seed=" + std::to_string(seed)},
                                       rate[3] == '3' ? 0.5 : 1.0, rate[3] == '3' ? 0.4 : 0.95));
    const Json metric = {{"step", 5},
                         {"split", "validation"},
                         {"values", {{"loss", 0.5}, {"accuracy", 0.5}, {"gradient_norm", 2.0}}},
                         {"times", {{"seconds", 1.5}, {"step_seconds", 0.25}}}};
    write_file_atomically(sample.lab.run(runs[0]).path() / "metrics.jsonl", metric.dump() + "\n");
    write_file_atomically(sample.lab.root() / "secret", kSecret);
    Json points = Json::array();
    for (const int seed : {1, 2, 3})
      for (const double rate : {1e-3, 1e-2}) points.push_back({rate, seed});
    points.push_back({1e-1, 1});
    std::vector<std::string> planned = runs;
    planned.push_back("0123456789ab");
    write_file_atomically(sample.lab.studies() / "mine.json", Json{{"name", "mine"},
                                                                   {"title", kHostile},
                                                                   {"scale", ""},
                                                                   {"runs", planned},
                                                                   {"fields", {"train.lr", "train.seed"}},
                                                                   {"points", points},
                                                                   {"figures", Json::array()}}
                                                                  .dump());
    view.emplace(sample.lab);
    view->read_all();
    api.emplace(*view, "");
  }

  Answer ask(const std::string& target) {
    Request request;
    EXPECT_TRUE(parse_target(target, request)) << target;
    request.host = "localhost";
    return route_of(request) == Route::page ? page_answer(request) : api->answer(request);
  }
  Json get(const std::string& target) {
    const Answer answer = ask(target);
    EXPECT_EQ(answer.status, 200) << *answer.body;
    const Json json = parse_json(*answer.body, target);
    EXPECT_EQ(json["api"], 1);
    EXPECT_EQ(json["generation"], view->generation());
    return json;
  }

  static constexpr const char* kHostile = "</script><img src=x onerror=alert(1)>\u202e'\"&amp;";
  testing::SampleLab sample;
  std::vector<std::string> runs;
  std::optional<LabView> view;
  std::optional<Api> api;
};

TEST_F(ApiTest, LabCountsRunsAndStudies) {
  const Json lab = get("/api/v1/lab");
  EXPECT_EQ(lab["runs"]["total"], 6);
  EXPECT_EQ(lab["runs"]["done"], 6);
  ASSERT_EQ(lab["studies"].size(), 1U);
  const Json& study = lab["studies"][0];
  EXPECT_EQ(study["key"], "mine");
  EXPECT_EQ(study["planned"], 7);
  EXPECT_EQ(study["done"], 6);
  EXPECT_EQ(study["waiting"], 1);
  EXPECT_EQ(study["seconds_left"], 1.5) << "what one of the others took";
  EXPECT_THAT(lab["workers"], IsEmpty());
  EXPECT_TRUE(lab["trouble"].is_null());
  EXPECT_GT(lab["machine"]["processors"], 0);
  EXPECT_EQ(lab["recent"].size(), 6U);
}

TEST_F(ApiTest, CountsWhatIsUnreadAsThat) {
  view.emplace(sample.lab);
  api.emplace(*view, Path());
  const Json lab = get("/api/v1/lab");
  EXPECT_EQ(lab["runs"]["unread"], 6);
  EXPECT_EQ(lab["studies"][0]["unread"], 6);
  EXPECT_EQ(lab["studies"][0]["waiting"], 1);
  const Json study = get("/api/v1/studies/mine");
  EXPECT_EQ(study["cells"][0]["state"], "unread");
  EXPECT_TRUE(study["figures_pending"]);
  // One that is asked for is read for it.
  EXPECT_EQ(get("/api/v1/runs/" + runs[0])["state"], "done");
  EXPECT_EQ(get("/api/v1/lab")["runs"]["unread"], 5);
  view->read_all();
  EXPECT_EQ(get("/api/v1/lab")["runs"]["unread"], 0);
  EXPECT_EQ(get("/api/v1/studies/mine")["figures"].size(), 1U);
}

TEST_F(ApiTest, FiguresOfALargeStudyComeLaterAndAreTheSame) {
  const Json at_once = get("/api/v1/studies/mine");
  ASSERT_EQ(at_once["figures"].size(), 1U);
  EXPECT_FALSE(at_once["figures_pending"]);
  api.emplace(*view, Path(), 5);  // six runs are then many
  EXPECT_THAT(api->due_studies(), IsEmpty());
  const Json first = get("/api/v1/studies/mine");
  EXPECT_TRUE(first["figures_pending"]);
  EXPECT_THAT(first["figures"], IsEmpty());
  EXPECT_EQ(first["cells"], at_once["cells"]);
  while (api->gather_more()) {
  }
  std::vector<std::string> due;
  while (due.empty()) due = api->due_studies();
  EXPECT_THAT(due, ::testing::ElementsAre("mine"));
  const Json later = get("/api/v1/studies/mine");
  EXPECT_FALSE(later["figures_pending"]);
  EXPECT_EQ(later["figures"], at_once["figures"]);
  EXPECT_EQ(later["claims"], at_once["claims"]);
}

TEST_F(ApiTest, StudyHasItsGridItsBestCellsAndItsFigure) {
  const Json study = get("/api/v1/studies/mine");
  EXPECT_EQ(study["axes"], Json::parse(R"([{"key": "train.lr", "values": [0.001, 0.01, 0.1]},
                                           {"key": "train.seed", "values": [1, 2, 3]}])"));
  ASSERT_EQ(study["cells"].size(), 7U);
  EXPECT_EQ(study["cells"][0]["state"], "done");
  EXPECT_EQ(study["cells"][0]["point"], (Json{{"train.lr", 0.001}}));
  EXPECT_EQ(study["cells"][1]["state"], "solved");
  EXPECT_EQ(study["cells"][1]["accuracy"], 0.95);
  EXPECT_EQ(study["cells"][6]["state"], "waiting");
  EXPECT_TRUE(study["cells"][6]["accuracy"].is_null());
  ASSERT_EQ(study["best"].size(), 1U);
  EXPECT_EQ(study["best"][0]["point"], (Json{{"train.lr", 0.01}}));
  EXPECT_EQ(study["best"][0]["runs"], (Json{runs[1], runs[3], runs[5]}));
  EXPECT_DOUBLE_EQ(study["best"][0]["accuracy"].get<double>(), 0.95);
  ASSERT_GE(study["figures"].size(), 1U) << study["figures_trouble"];
  EXPECT_EQ(study["figures"][0]["kind"], "lr-window");
  EXPECT_TRUE(study["figures"][0]["spec"].contains("$schema"));
  EXPECT_EQ(study["cost"]["seconds"], 9.0);
  EXPECT_GT(study["cost"]["flops"], 0);
  EXPECT_TRUE(study["cost"]["flops_to_go"].is_null()) << "nobody knows the waiting run";
}

TEST_F(ApiTest, AnItemOfAPaperIsJudgedWithoutRuns) {
  const Json item = get("/api/v1/papers/A.fig1?scale=smoke");
  EXPECT_EQ(item["study"], "recall/fig1");
  EXPECT_EQ(item["scale"], "smoke");
  ASSERT_GT(item["claims"].size(), 0U);
  EXPECT_EQ(item["claims"][0]["verdict"], "not run");
  EXPECT_THAT(item["figures_trouble"].get<std::string>(), HasSubstr("none of its"));
  EXPECT_GT(item["settings"].size(), 0U) << "smoke is not the paper's size";
}

// Table 4 of paper B says something of an NRU at length 1000, which the scale smoke does not have; its values are of
// phases.offset_passed.
TEST_F(ApiTest, WhatAPaperSaysIsNextToOurs) {
  const study::Study study = report::open_study("memory/table4", {"smoke", {}});
  for (const config::RunConfig& config : study.runs) {
    Json summary = testing::sample_summary(config, "done", 0.75, 0.5);
    summary["values"]["phases"]["offset_passed"] = config.json()["model"]["mixer"] == "mamba";
    sample.lab.run(config.id).create(config.json());
    write_file_atomically(sample.lab.run(config.id).path() / "summary.json", summary.dump());
  }
  view->poll();
  const Json says = get("/api/v1/papers/B.table4?scale=smoke")["says"];
  ASSERT_EQ(says.size(), 4U);
  for (const Json& line : says) EXPECT_FALSE(line["about"].get<std::string>().starts_with(",")) << line;
  EXPECT_EQ(says[0]["ours"], 0.0) << says[0];
  EXPECT_EQ(says[3]["ours"], 1.0) << says[3];
}

// As a sweep of version 0.1 has remembered it: with the ids of its runs alone.
TEST_F(ApiTest, AShippedStudyIsOpenedByItsName) {
  const study::Study demo = report::open_study("demo", {"smoke", {}});
  Json ids = Json::array();
  for (const config::RunConfig& run : demo.runs) ids.push_back(run.id);
  write_file_atomically(sample.lab.studies() / "demo-smoke.json",
                        Json{{"name", "demo"}, {"title", demo.title}, {"scale", "smoke"}, {"runs", ids}}.dump());
  view->poll();
  const Json study = get("/api/v1/studies/demo-smoke");
  EXPECT_EQ(study["axes"].size(), demo.axes.size());
  EXPECT_EQ(study["waiting"], demo.runs.size());
  EXPECT_EQ(study["cells"][0]["point"].size(), demo.axes.size() - 1) << "all axes but the seed";
  EXPECT_GT(study["cost"]["flops_to_go"], 0);
}

TEST_F(ApiTest, RunsAreATableThatFiltersNarrow) {
  const Json all = get("/api/v1/runs");
  ASSERT_EQ(all["rows"].size(), 6U);
  EXPECT_EQ(all["total"], 6);
  for (const Json& row : all["rows"]) EXPECT_EQ(row.size(), all["columns"].size());
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < all["columns"].size(); ++i) at[all["columns"][i]["key"]] = i;
  EXPECT_EQ(all["rows"][0][at["state"]], "done");
  EXPECT_EQ(all["rows"][0][at["budget"]], 5);
  EXPECT_EQ(all["rows"][0][at["studies"]], "mine");
  const Json some = get("/api/v1/runs?filter=lr%3E5e-3&filter=seed%3D1%2C2");
  EXPECT_EQ(some["rows"].size(), 2U);
  EXPECT_EQ(some["matching"], 2);
  for (const Json& row : some["rows"]) EXPECT_EQ(row[at["lr"]], 0.01);
  const Json one = get("/api/v1/runs?filter=lr%3E5e-3&ids=" + runs[0] + "," + runs[1] + ",../secret");
  EXPECT_EQ(one["rows"].size(), 1U);
  EXPECT_TRUE(one["partial"].get<bool>());
  const Answer wrong = ask("/api/v1/runs?filter=mixr%3Dattention");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(*wrong.body, HasSubstr("did you mean 'mixer'"));
  EXPECT_EQ(ask("/api/v1/runs?filter=%27%3B+DROP+TABLE+runs%3B--").status, 400);
  EXPECT_EQ(get("/api/v1/runs?filter=reason%3D%27%3B+DROP+TABLE+runs").at("matching"), 0);
  EXPECT_EQ(get("/api/v1/runs")["matching"], 6);
}

TEST_F(ApiTest, RunSaysWhatDiffersFromTheOthers) {
  const Json run = get("/api/v1/runs/" + runs[0]);
  EXPECT_EQ(run["id"], runs[0]);
  EXPECT_EQ(run["state"], "done");
  EXPECT_EQ(run["outcome"], "done");
  EXPECT_EQ(run["config"]["train"]["lr"], 0.001);
  EXPECT_EQ(run["differs"], Json::parse(R"([{"key": "train.lr", "value": 0.001, "others": [0.01]},
                                            {"key": "train.seed", "value": 1, "others": [2, 3]}])"));
  EXPECT_EQ(run["studies"][0]["key"], "mine");
  EXPECT_EQ(run["test"]["accuracy"], 0.4);
  EXPECT_TRUE(run["inspect"].is_null());
  EXPECT_TRUE(run["traces"].is_null());
  EXPECT_TRUE(run["generalisation"].is_null());
}

TEST_F(ApiTest, WhatPeopleSayOfARunIsShown) {
  store::change_notes(sample.lab.run(runs[0]), [](store::RunNotes& notes) {
    notes = {.tags = {"baseline", "kept"}, .note = kHostile};
  });
  while (!view->poll().any()) {
  }
  const Json run = get("/api/v1/runs/" + runs[0]);
  EXPECT_EQ(run["tags"], (Json{"baseline", "kept"}));
  EXPECT_EQ(run["note"], kHostile);
  const Json some = get("/api/v1/runs?filter=tag%3Dkept");
  ASSERT_EQ(some["rows"].size(), 1U);
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < some["columns"].size(); ++i) at[some["columns"][i]["key"]] = i;
  EXPECT_EQ(some["rows"][0][at["tags"]], "baseline kept");
  EXPECT_EQ(some["rows"][0][at["note"]], kHostile);
  EXPECT_EQ(get("/api/v1/runs/" + runs[1])["tags"], Json::array());
}

TEST_F(ApiTest, CurvesHaveNullsForWhatWasNotMeasured) {
  const Json curves = get("/api/v1/runs/" + runs[0] + "/curves");
  ASSERT_EQ(curves["rows"].size(), 1U);
  Json row;
  for (std::size_t i = 0; i < curves["columns"].size(); ++i) row[curves["columns"][i]] = curves["rows"][0][i];
  EXPECT_EQ(row["step"], 5);
  EXPECT_EQ(row["tokens"], 5 * 4 * 8.0);
  EXPECT_GT(row["flops"], 0);
  EXPECT_EQ(row["loss"], 0.5);
  EXPECT_EQ(row["gradient_norm"], 2.0);
  EXPECT_EQ(row["step_seconds"], 0.25);
  EXPECT_TRUE(row["parameter_norm"].is_null());
  EXPECT_THAT(get("/api/v1/runs/" + runs[0] + "/curves?from=5")["rows"], IsEmpty());
  EXPECT_EQ(ask("/api/v1/runs/" + runs[0] + "/curves?from=x").status, 400);
}

TEST_F(ApiTest, CompareNamesTheStepAtWhichRunsPart) {
  const auto metric = [](int step, double loss) {
    return Json{{"step", step}, {"values", {{"loss", loss}}}, {"times", {{"seconds", loss}}}}.dump() + "\n";
  };
  const auto write = [&](const std::string& run, const std::string& text) {
    write_file_atomically(sample.lab.run(run).path() / "metrics.jsonl", text);
  };
  write(runs[0], metric(1, 3) + metric(2, 2) + metric(3, 1));
  write(runs[1], metric(1, 3) + metric(2, 2.5) + metric(3, 1));
  write(runs[2], metric(1, 3) + metric(2, 2));
  const Json compared = get("/api/v1/compare?runs=" + runs[0] + "," + runs[1] + "," + runs[2]);
  ASSERT_EQ(compared["runs"].size(), 3U);
  EXPECT_EQ(compared["runs"][0]["point"], compared["runs"][2]["point"]) << "seeds of one thing";
  EXPECT_EQ(compared["runs"][1]["curves"]["rows"].size(), 3U);
  EXPECT_EQ(compared["parts"][0]["step"], 2);
  EXPECT_TRUE(compared["parts"][1]["step"].is_null());
  EXPECT_EQ(compared["differs"].size(), 2U);
  EXPECT_EQ(get("/api/v1/compare?runs=" + runs[0])["runs"].size(), 1U);
  EXPECT_EQ(ask("/api/v1/compare?runs=" + join(std::vector<std::string>(51, runs[0]), ",")).status, 400);
  EXPECT_EQ(ask("/api/v1/compare?runs=" + runs[0] + ",abc").status, 404);
}

TEST_F(ApiTest, PapersFillItemByItem) {
  EXPECT_FALSE(get("/api/v1/papers")["ready"].get<bool>());
  ASSERT_TRUE(api->work_ahead());
  EXPECT_EQ(get("/api/v1/papers")["items"].size(), 1U);
  EXPECT_EQ(ask("/api/v1/papers/A.fig99").status, 404);
  EXPECT_EQ(ask("/api/v1/papers/A.fig1?scale=huge").status, 400);
}

// RELIABILITY 17 and 21: what the lab says reaches the page as it is, and as JSON only.
TEST_F(ApiTest, HostileStringsComeThroughUnchanged) {
  EXPECT_EQ(get("/api/v1/lab")["studies"][0]["title"], kHostile);
  write_file_atomically(sample.lab.run(runs[0]).path() / "log.txt", std::string(kHostile) + "\n\xff\xfe\n");
  const Answer answer = ask("/api/v1/runs/" + runs[0]);
  EXPECT_EQ(answer.type, "application/json");
  const Json log = parse_json(*answer.body, "answer")["log"];
  EXPECT_EQ(log[0], kHostile);
  EXPECT_EQ(log[1], "\ufffd\ufffd");
}

TEST_F(ApiTest, ADamagedTraceIsNoReasonNotToShowTheRun) {
  write_file_atomically(sample.lab.run(runs[0]).path() / "traces.json", "{\"signals\": [");
  write_file_atomically(sample.lab.run(runs[0]).path() / "metrics.jsonl", "not JSON\n");
  EXPECT_TRUE(get("/api/v1/runs/" + runs[0])["traces"].is_null());
  EXPECT_THAT(get("/api/v1/runs/" + runs[0] + "/curves")["rows"], IsEmpty());
}

// RELIABILITY 20: 100,000 spellings of paths that lead elsewhere.
TEST_F(ApiTest, NoSpellingOfAPathLeadsToAFile) {
  const std::vector<std::string> starts = {"/",
                                           "/api/v1/",
                                           "/api/v1/runs/",
                                           "/api/v1/studies/",
                                           "/api/v1/papers/",
                                           "/app.js/",
                                           "/api/v1/runs/" + runs[0] + "/"};
  const std::vector<std::string> ups = {"..",    "%2e%2e", ".%2e",  "%2E.",         "%252e%252e",
                                        "..%00", "....",   "..;",   "%c0%ae%c0%ae", "..%ff",
                                        "..%09", ".",      "..%20", "%2e%2e%2e",    "..."};
  const std::vector<std::string> slashes = {"/", "%2f", "%5c", "%252f", "//", "%2F%2f", "/./", "%c0%af"};
  const std::vector<std::string> ends = {"secret",   "lab/secret", "etc/passwd",  "proc/self/environ",
                                         "index.db", "mine.json",  "config.json", "studies/mine.json"};
  int asked = 0;
  for (std::uint64_t round = 0; round < 100000; ++round) {
    Random random(20, round);
    const auto any = [&](const std::vector<std::string>& list) { return list[random.below64(list.size())]; };
    std::string target = any(starts);
    for (std::uint64_t depth = random.below(5) + 1; depth > 0; --depth) target += any(ups) + any(slashes);
    target += any(ends);
    if (random.below(8) == 0) target += "?runs=../secret&filter=";
    const Answer answer = ask(target);
    ASSERT_EQ(answer.status, 404) << target;
    ASSERT_EQ(answer.body->find(kSecret), std::string::npos) << target;
    ++asked;
  }
  EXPECT_EQ(asked, 100000);
}

TEST_F(ApiTest, NothingCanBeChanged) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
    Request request;
    ASSERT_TRUE(parse_target("/api/v1/runs/" + runs[0], request));
    request.method = method;
    ASSERT_EQ(route_of(request), Route::page);
    EXPECT_EQ(page_answer(request).status, 405) << method;
  }
}

}  // namespace
}  // namespace mneme::serve
