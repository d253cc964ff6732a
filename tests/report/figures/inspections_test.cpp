#include "report/figures/inspections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "catalog/analyses.h"
#include "core/autopsy.h"
#include "report/pages/inspection.h"
#include "support/expect_error.h"
#include "support/json_schema.h"
#include "support/places.h"
#include "support/temporary_directory.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

const InspectedRun kRun{"0123456789ab", "mqar, attention, width 64, 2 layers, lr 1e-3, seed 42"};

Json gradient_result() {
  Json lags = Json::array();
  for (int l = 0; l < 20; ++l) lags.push_back({{"lag", l}, {"mean", std::pow(0.8, l)}, {"count", 20 - l}});
  lags.push_back({{"lag", 20}, {"mean", 0.0}, {"count", 1}});
  lags.push_back({{"lag", 21}, {"mean", nullptr}, {"count", 1}});
  return {{"losses", 20},
          {"lags", lags},
          {"fit",
           {{"exponential", {{"factor", 0.8}, {"half_life", 3.1}, {"at_zero", 1.0}, {"r2", 1.0}}},
            {"power", {{"exponent", -1.2}, {"at_one", 1.0}, {"r2", 0.8}}},
            {"better", "exponential"}}},
          {"at_source", 0.4},
          {"elsewhere", 0.1}};
}

Json matrix_result() {
  const Json rows = {{1.0, 0.0, 0.0}, {0.25, 0.75, 0.0}, {0.5, 0.25, 0.25}};
  const auto mixer = [&](int layer, bool linear, bool convolved) -> Json {
    return {{"module", "backbone.layers.0.sequence_mixer"},
            {"layer", layer},
            {"linear", linear},
            {"convolved", convolved},
            {"heads", {rows, rows}},
            {"error", linear && !convolved ? Json(1e-16) : Json()},
            {"negative", 0.0}};
  };
  return {{"length", 3},
          {"block", 1},
          {"examples", 4},
          {"roles", {"key", "value", "query"}},
          {"tokens", {"1", "2", "1"}},
          {"mixers", {mixer(0, true, false), mixer(0, true, true), mixer(1, false, false), mixer(1, false, false)}},
          {"worst_error", 1e-16},
          {"checked_rows", 12}};
}

Json patterns_result(double value) {
  const auto scores = [](double share) -> Json {
    return {{"previous", 0.1}, {"previous_at_values", 0.2}, {"same", 0.1}, {"induction", share}, {"value", share},
            {"key", nullptr}};
  };
  const auto rows = [&](double share) -> Json {
    return {
        {{"layer", 0}, {"module", "m"}, {"head", 0}, {"linear", true}, {"convolved", false}, {"scores", scores(0.1)}},
        {{"layer", 1}, {"module", "m"}, {"head", 0}, {"linear", true}, {"convolved", true}, {"scores", scores(share)}}};
  };
  return {{"examples", 4},
          {"uniform", scores(0.05)},
          {"counts", Json::object()},
          {"steps", {{{"step", 0}, {"rows", rows(0.05)}}, {{"step", 100}, {"rows", rows(value)}}}}};
}

Json spectra_result() {
  return {{"mixers",
           {{{"layer", 0},
             {"module", "m"},
             {"mixer", "s4d"},
             {"size", 2},
             {"lanes", 8},
             {"tokens", 16},
             {"eigenvalues", {{0.5, 0.5}, {0.5, -0.5}}},
             {"product", {{0.1, 0.0}, {nullptr, 0.0}}},
             {"largest", 0.7},
             {"below_zero", 0.0},
             {"complex", 1.0},
             {"lasting", 0.0},
             {"half_life", {{"short", 1.0}, {"median", 2.0}, {"long", 3.0}, {"longest", nullptr}}},
             {"counting", {{"n", 4}, {"root", {0.0, 1.0}}, {"nearest", {0.5, 0.5}}, {"distance", 0.7}}}}}},
          {"left_out", {{{"module", "x"}, {"mixer", "attention"}, {"why", "its state grows"}}}}};
}

Json interventions_result() {
  Json cells = Json::array();
  for (const char* place : {"block input", "mixer output", "state"})
    for (const char* kind : {"key", "value", "query"})
      cells.push_back({{"layer", 1}, {"place", place}, {"kind", kind}, {"mean", -0.001}, {"error", 0.1}, {"count", 9}});
  const auto corruption = [](const char* token, const Json& found) -> Json {
    return {{"token", token},  {"examples", 64},    {"kept", found.empty() ? 0 : 9},
            {"p_clean", 0.98}, {"p_corrupt", 0.02}, {"cells", found}};
  };
  return {{"corruptions", {corruption("key", cells), corruption("value", Json::array())}},
          {"verdict", {{"name", "induction"}, {"sentences", {"Induction in layer 1.", "Key and value enter."}}}},
          {"least_effect", 0.01},
          {"carries", 0.5}};
}

Json state_result() {
  const auto point = [](int pairs, double bits) -> Json {
    return {{"pairs", pairs},  {"floats", 2048},    {"bits", bits}, {"bits_by_pair", Json::array()},
            {"accuracy", 0.9}, {"shuffled", 0.126}, {"rank", 6.5},  {"interference", 0.05}};
  };
  return {{"values", 8},
          {"bits_per_pair", 3.0},
          {"own_pairs", 4},
          {"train", 640},
          {"test", 256},
          {"layers", {{{"layer", 0}, {"mixer", "mamba"}, {"curve", {point(1, 3.0), point(4, 12.0), point(15, 9.0)}}}}},
          {"read",
           {{{"pairs", 1}, {"accuracy", 1.0}, {"bits", 3.0}},
            {{"pairs", 4}, {"accuracy", 1.0}, {"bits", 12.0}},
            {{"pairs", 15}, {"accuracy", 0.5}, {"bits", 9.0}}}}};
}

// A group whose gradient grows a hundredfold at step 50, and one that stays calm; at the end the loss is lost.
Json autopsy_result() {
  TrainingTrace trace{{"embedding", "layers.0.A_log"}, {}};
  for (int step = 1; step <= 60; ++step)
    trace.add({.step = step,
               .loss = step < 60 ? 2.0F : NAN,
               .largest_logit = 5,
               .smallest_decay = NAN,
               .largest_decay = NAN,
               .gradient_norm = {1, step < 50 ? 0.1F : 10.0F},
               .update_ratio = {1e-3F, 1e-3F}});
  return autopsy_json(trace);
}

// A result of each analysis.
const std::map<std::string, Json>& samples() {
  static const std::map<std::string, Json> list{
      {"matrix", matrix_result()},     {"patterns", patterns_result(0.9)},        {"spectra", spectra_result()},
      {"gradient", gradient_result()}, {"interventions", interventions_result()}, {"state", state_result()},
      {"autopsy", autopsy_result()}};
  return list;
}

void expect_valid(const ReportSection& section) {
  static const testing::JsonSchema schema(
      Json::parse(read_file(Path(binary_directory()) / "web/npm/node_modules/vega-lite/build/vega-lite-schema.json")));
  for (const ReportFigure& figure : section.figures) EXPECT_EQ(schema.trouble(figure.specification), "") << figure.name;
}

TEST(Inspections, EveryAnalysisIsDrawnAsValidVegaLite) {
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog()) {
    const auto sample = samples().find(entry.name);
    if (sample == samples().end()) continue;  // its own test has one
    const ReportSection section = inspection_section(entry.name, sample->second, kRun);
    EXPECT_EQ(section.title, entry.title);
    EXPECT_FALSE(section.findings.empty());
    EXPECT_FALSE(section.figures.empty());
    expect_valid(section);
  }
}

TEST(Inspections, SayWhichCircuitWasFoundAndWhatTheStateHolds) {
  const ReportSection circuit = inspection_section("interventions", interventions_result(), kRun);
  EXPECT_THAT(circuit.findings, ElementsAre("Induction in layer 1.", "Key and value enter."));
  ASSERT_EQ(circuit.figures.size(), 2U);  // of the value there is nothing to show, and the figure says so
  EXPECT_THAT(circuit.figures[1].specification.dump(), HasSubstr("nothing to attribute"));
  EXPECT_THAT(circuit.tables[0].table.rows,
              ::testing::Contains(ElementsAre("key", "layer 1, state", "query", "-0.0010", "0.1000", "9")));
  // A mean that rounds to zero has no sign in the figure.
  EXPECT_THAT(circuit.figures[0].specification.dump(), ::testing::Not(HasSubstr("-0.00\"")));
  const ReportSection state = inspection_section("state", state_result(), kRun);
  EXPECT_THAT(
      state.findings,
      ElementsAre("state of layer 0 (mamba): at most 12.0 bits, 4.0 pairs' worth, after 4 pairs, in 2048 floats "
                  "(0.0059 bits and 0.002 pairs per float)",
                  "queried after 15 pairs, the model reads back 9.0 of 45 bits"));
}

TEST(Inspections, TheAutopsyNamesTheGroupAndColoursIt) {
  const ReportSection section = inspection_section("autopsy", autopsy_result(), kRun);
  EXPECT_THAT(section.findings,
              ElementsAre("layers.0.A_log left its band first, at step 50: gradient norm 10, expected 0.025 to 0.4"));
  EXPECT_THAT(section.tables[0].table.rows,
              ElementsAre(ElementsAre("50", "layers.0.A_log", "gradient norm", "10", "0.025 to 0.4"),
                          ElementsAre("60", "the model", "loss", "not finite", "0.5 to 8")));
  const Json& figure = section.figures[0].specification;
  ASSERT_EQ(figure["concat"].size(), 3U);  // no mixer has a decay
  std::set<std::string> coloured, grey;
  for (const Json& point : figure["concat"][0]["data"]["values"])
    (point.contains("series") ? coloured : grey).insert(point["line"]);
  EXPECT_THAT(coloured, ElementsAre("layers.0.A_log"));
  EXPECT_THAT(grey, ElementsAre("embedding"));
}

TEST(Inspections, WhatDoesNotApplyIsSaid) {
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog()) {
    const ReportSection section = inspection_section(entry.name, {{"skipped", "the model has no state"}}, kRun);
    EXPECT_THAT(section.findings, ElementsAre("Does not apply: the model has no state"));
    EXPECT_TRUE(section.figures.empty());
  }
}

TEST(Inspections, SayWhichHeadLooksWhere) {
  const auto findings = [](double value) {
    return inspection_section("patterns", patterns_result(value), kRun).findings;
  };
  EXPECT_THAT(findings(0.9),
              ElementsAre("layer 1, with convolution looks at the token after the last occurrence of its "
                          "own: 90 % of |M| (uniform: 5 %)",
                          "layer 1, with convolution looks at the value that is queried: 90 % of |M| "
                          "(uniform: 5 %)"));
  EXPECT_THAT(findings(0.4), ElementsAre(HasSubstr("no head puts half of its |M| on")));
  // Scores over training only where weights were kept.
  EXPECT_EQ(inspection_section("patterns", patterns_result(0.9), kRun).figures.size(), 2U);
  Json once = patterns_result(0.9);
  once["steps"].erase(0);
  EXPECT_EQ(inspection_section("patterns", once, kRun).figures.size(), 1U);
}

TEST(Inspections, AResultOfAnotherShapeIsAnError) {
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         inspection_section("gradient", {{"lags", 3}}, kRun);
                       }),
              HasSubstr("[inspection of run 0123456789ab] 'gradient' is not what this version writes"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { inspection_section("gradiant", Json::object(), kRun); }),
              HasSubstr("did you mean 'gradient'?"));
}

TEST(Inspections, AreKeptBesideEachOtherAndDroppedWithOlderWeights) {
  const testing::TemporaryDirectory directory;
  const RenderTools none{"missing-node", "missing-rsvg"};
  EXPECT_FALSE(keep_inspections(directory.path(), kRun, {{"gradient", 100, 16, gradient_result()}}, none).empty());
  const Json first = parse_json(read_file(directory / "inspect.json"), "inspect.json");
  EXPECT_EQ(first["run"], kRun.id);
  ASSERT_EQ(first["sections"].size(), 1U);
  EXPECT_EQ(first["sections"][0]["title"], "Gradient by lag");
  EXPECT_TRUE(first["sections"][0]["figures"][0]["spec"].is_object());
  EXPECT_TRUE(std::filesystem::exists(directory / "inspect/gradient-by-lag.vl.json"));
  EXPECT_THAT(read_file(directory / "inspect/gradient-by-lag.csv"), HasSubstr("lag,mean gradient,losses"));
  ASSERT_EQ(kept_inspections(directory.path()).size(), 1U);
  EXPECT_EQ(kept_inspections(directory.path())[0].step, 100);

  // What is of the record of the training stays, whatever weights are looked at.
  keep_inspections(directory.path(), kRun, {{"autopsy", 60, 0, autopsy_result()}}, none);
  keep_inspections(directory.path(), kRun, {{"state", 200, 16, state_result()}}, none);
  std::vector<std::string> names;
  for (const InspectionResult& one : kept_inspections(directory.path())) names.push_back(one.analysis);
  EXPECT_THAT(names, ElementsAre("state", "autopsy"));

  write_file_atomically(directory / "inspect/gradient.json", "{\"step\": 1}\n");
  EXPECT_THAT(error_of(ErrorKind::data, [&] { kept_inspections(directory.path()); }),
              HasSubstr("not a result of mneme inspect"));
}

}  // namespace
}  // namespace mneme::report
