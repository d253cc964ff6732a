#include "report/figures/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/files.h"
#include "report/figures/figure_samples.h"
#include "report/figures/render.h"
#include "support/expect_error.h"
#include "support/json_schema.h"
#include "support/places.h"
#include "support/temporary_directory.h"

namespace mneme::report {
namespace {

using testing::build_sample;
using testing::error_of;
using testing::FigureSample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonSchema;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const JsonSchema& vega_lite_schema() {
  static const JsonSchema schema(
      Json::parse(read_file(Path(binary_directory()) / "web/npm/node_modules/vega-lite/build/vega-lite-schema.json")));
  return schema;
}

class Samples : public ::testing::TestWithParam<FigureSample> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Samples, ::testing::ValuesIn(testing::figure_samples()),
                         [](const auto& sample) { return sample.param.name; });

// With MNEME_WRITE_GOLDEN set, the files are rewritten: look at what changed before you commit it.
TEST_P(Samples, SpecificationIsTheGoldenOne) {
  const FigureReport report = build_sample(GetParam());
  Json made = Json::array();
  for (const ReportFigure& figure : report.figures) made.push_back(figure.specification);
  const Path file = Path(source_directory()) / "tests/report/golden" / (GetParam().name + ".json");
  if (std::getenv("MNEME_WRITE_GOLDEN") != nullptr) write_file_atomically(file, made.dump(1) + "\n");
  EXPECT_EQ(Json::parse(read_file(file)), Json::parse(made.dump()));
}

TEST_P(Samples, SpecificationIsValidVegaLite) {
  for (const ReportFigure& figure : build_sample(GetParam()).figures)
    EXPECT_EQ(vega_lite_schema().trouble(figure.specification), "");
}

TEST_P(Samples, IsDrawnWithoutComplaint) {
  const testing::TemporaryDirectory scratch;
  // A place where a person can look at the pictures.
  const char* keep = std::getenv("MNEME_KEEP_FIGURES");
  const Path directory = keep == nullptr ? scratch.path() : Path(keep);
  const FigureReport report = build_sample(GetParam());
  ASSERT_FALSE(report.figures.empty());
  for (const ReportFigure& figure : report.figures) {
    const Rendering rendering = render_figure(figure.specification, directory / figure.name);
    EXPECT_THAT(rendering.messages, IsEmpty());
    EXPECT_EQ(rendering.written.size(), 3u);
  }
}

TEST_P(Samples, TheOrderOfRowsDoesNotMatter) {
  FigureSample reversed = GetParam();
  std::reverse(reversed.rows.begin(), reversed.rows.end());
  const FigureReport a = build_sample(GetParam()), b = build_sample(reversed);
  ASSERT_EQ(a.figures.size(), b.figures.size());
  for (std::size_t i = 0; i < a.figures.size(); ++i)
    EXPECT_EQ(a.figures[i].specification.dump(), b.figures[i].specification.dump());
  EXPECT_EQ(a.data.dump(), b.data.dump());
  EXPECT_EQ(a.findings, b.findings);
}

TEST_P(Samples, StatesScaleSeedsAndRuns) {
  FigureSample sample = GetParam();
  for (const ReportFigure& figure : build_sample(sample).figures) {
    const std::string subtitle = figure.specification["title"]["subtitle"].dump();
    EXPECT_THAT(subtitle, HasSubstr("laptop scale"));
    EXPECT_THAT(subtitle, HasSubstr(std::to_string(sample.rows.size()) + " runs"));
    EXPECT_THAT(subtitle, HasSubstr("seeds per"));
  }
  sample.rows.front().outcome = "running";
  for (const ReportFigure& figure : build_sample(sample).figures)
    EXPECT_THAT(figure.specification["title"]["subtitle"].dump(), HasSubstr("1 not ended"));
}

TEST_P(Samples, TablesPrintInEveryWay) {
  for (const ReportTable& table : build_sample(GetParam()).tables) {
    EXPECT_FALSE(table.table.rows.empty());
    EXPECT_NE(to_text(table.table), "");
    EXPECT_NE(to_latex(table.table), "");
  }
}

// CSV files had cells such as "99.6 ± 0.2", "2,500" and "13 s".
TEST_P(Samples, MachinesGetPlainNumbersAtFullPrecision) {
  for (const ReportTable& table : build_sample(GetParam()).tables) {
    ASSERT_FALSE(table.name.empty());
    ASSERT_FALSE(table.records.empty()) << table.name;
    for (const Record& record : table.records)
      for (const auto& [column, value] : record.items()) {
        EXPECT_EQ(column.find_first_of(" %±()"), column.npos) << column;
        if (!value.is_string()) continue;
        for (const char* display : {"±", "%", " to "})
          EXPECT_EQ(value.get<std::string>().find(display), std::string::npos) << column << " " << value;
      }
  }
}

TEST(Kinds, EveryKindHasASampleAndItsOwnName) {
  std::set<std::string> sampled, names;
  for (const FigureSample& sample : testing::figure_samples())
    sampled.insert(figure_requests({parse_toml(sample.figure, "sample.toml")}).front().kind->name);
  for (const FigureKind& kind : figure_kinds()) {
    EXPECT_TRUE(sampled.contains(kind.name)) << kind.name;
    EXPECT_TRUE(names.insert(kind.name).second);
  }
}

TEST(Kinds, NoRunsIsAFigureThatSaysSo) {
  for (const FigureKind& kind : figure_kinds()) {
    const FigureReport report =
        kind.build({}, {.name = "none", .title = "None", .scale = "", .chance = {}, .paper = {}},
                   defaults(kind.options, "figure"));
    ASSERT_EQ(report.figures.size(), 1u) << kind.name;
    EXPECT_TRUE(report.figures[0].specification["data"]["values"][0].contains("text")) << kind.name;
    EXPECT_EQ(vega_lite_schema().trouble(report.figures[0].specification), "") << kind.name;
  }
}

TEST(Kinds, UnknownKindsAndOptionsAreNamedWithTheirPlace) {
  const auto message = [](const std::string& toml) {
    return error_of(ErrorKind::usage, [&] { figure_requests({*parse_toml(toml, "s.toml").find("figure")}); });
  };
  EXPECT_THAT(message("[figure]\nkind = \"matrx\""),
              HasSubstr("[s.toml:2:1] figure.kind: unknown kind 'matrx', did you mean 'matrix'?"));
  EXPECT_THAT(message("[figure]\nkind = 3"), HasSubstr("figure.kind: got 3, expected a string"));
  EXPECT_THAT(message("[figure]\nkind = \"signal\"\nmarks = 3"), HasSubstr("[s.toml:3:1] figure: unknown key 'marks'"));
  EXPECT_THAT(message("[figure]\nmarks = [\"a\"]"), HasSubstr("figure.marks: got"));
  EXPECT_THAT(message("figure = 3"), HasSubstr("figure: got 3, expected a table"));
  EXPECT_EQ(figure_requests({}).front().kind->name, "lr-window");
}

// "drops with accuracy 0" next to a loss that fell from 2.0 to 0.3 looked wrong.
TEST(Kinds, DynamicsSaysWhatADropIs) {
  const FigureReport report = build_sample(testing::figure_samples()[4]);
  const std::string& note = report.tables[0].note;
  for (const char* part : {"a plateau of the validation loss (three evaluations within 1 %)", "a fall by at least 5 %",
                           "a loss that falls from the start has no plateau, so it counts as no drop"})
    EXPECT_THAT(note, HasSubstr(part));
  EXPECT_THAT(to_text(report.tables[0].table), HasSubstr("loss, first to last"));
  EXPECT_THAT(report.findings[0], HasSubstr("after a plateau the validation loss drops without accuracy"));
}

TEST(Kinds, DynamicsDrawsEveryRateIfAsked) {
  const FigureReport best = build_sample(testing::figure_samples()[4]),
                     all = build_sample(testing::figure_samples().back());
  const auto lines = [](const FigureReport& report) {
    std::set<std::pair<std::size_t, std::string>> found;
    for (const Json& point : report.figures[0].specification["datasets"]["curves"])
      found.emplace(point["panel"].get<std::size_t>(), point["series"].get<std::string>());
    return found;
  };
  EXPECT_THAT(lines(best), UnorderedElementsAre(Pair(0u, "attention"), Pair(0u, "mamba")));
  EXPECT_THAT(lines(all), UnorderedElementsAre(Pair(0u, "1e-3"), Pair(0u, "1e-2"), Pair(1u, "1e-3"), Pair(1u, "1e-2")));
  EXPECT_EQ(all.tables[0].table.rows.size(), 4u);
}

// The check of specifications can fail.
TEST(Kinds, PlantedMistakesAreNotValidVegaLite) {
  const auto trouble = [](const std::string& pointer, const Json& value) {
    Json figure = build_sample(testing::figure_samples()[4]).figures[0].specification;
    figure[Json::json_pointer(pointer)] = value;
    return vega_lite_schema().trouble(figure);
  };
  EXPECT_EQ(trouble("/spacing", 3), "");
  EXPECT_NE(trouble("/vconcat/0/layer/1/mark/type", "areas"), "");
  EXPECT_NE(trouble("/vconcat/0/layer/1/encoding/x/type", "quantity"), "");
  EXPECT_NE(trouble("/vconcat/0/layer/1/encoding/colour", {{"value", "red"}}), "");
  EXPECT_NE(trouble("/vconcat/0/width", "wide"), "");
}

}  // namespace
}  // namespace mneme::report
