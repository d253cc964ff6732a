// Mixers from a user's Python file, through the real programs: docs/python.md as a new user would try it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "cli/python_app_testing.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class PythonApp : public testing::PythonAppTest {};

TEST_F(PythonApp, TheExampleOfTheDocumentationPassesItsChecks) {
  write_example();
  const ProcessResult result = run({"check", "gated_average.py:GatedAverage", "decay=0.95", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const Json checks = parse_json(result.out, "check")["mixers"][0]["checks"];
  std::set<std::string> passed;
  for (const Json& row : checks)
    if (row["verdict"] == "passed") passed.insert(row["check"]);
  for (const char* name : {"shape", "causality", "order", "repeat", "gradient", "step", "state", "parameters", "file"})
    EXPECT_TRUE(passed.contains(name)) << name << checks.dump(1);
}

// The lines of one indented block of the page: those that follow `before` and the empty line after it.
std::vector<std::string> block_after(const std::string& page, const std::string& before) {
  const std::size_t begin = page.find("\n    ", page.find(before));
  std::vector<std::string> lines;
  for (const std::string& line : split(page.substr(begin + 1), '\n')) {
    if (!line.starts_with("    ")) break;
    lines.push_back(line.substr(4));
  }
  return lines;
}

// As printed, but for sizes that are added at the end.
TEST_F(PythonApp, EveryCommandOfTheDocumentationWorks) {
  write_example();
  std::set<std::string> seen;
  for (const std::string& line : block_after(documentation(), "return self.out_proj(torch.sigmoid")) {
    std::vector<std::string> words;
    for (const std::string& word : split(line.substr(0, line.find('#')), ' '))
      if (!word.empty()) words.push_back(word);
    ASSERT_GT(words.size(), 2u) << line;
    ASSERT_EQ(words[0], "mneme") << line;
    words.erase(words.begin());
    seen.insert(words[0]);
    if (words[0] == "train" || words[0] == "window") words = joined(words, kTiny);
    if (words[0] == "window") words = joined(words, {"--rates", "4", "--seeds", "1,2"});
    if (words[0] == "card") words = joined(words, {"--scale", "smoke"});
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << line << result.err;
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"check", "show", "train", "window", "card"}));
}

// The printed study, whose options are axes of the runs that have them.
TEST_F(PythonApp, TheStudyOfTheDocumentationHasARunPerMixerAndOption) {
  write_example();
  std::string study =
      "[task]\nlength = 8\npairs = 1\nvocab = 16\n[train]\nbatch = 4\nsteps = 3\neval_examples = 8\n"
      "test_examples = 8\n";
  for (const std::string& line : block_after(documentation(), "and in a study")) {
    study += line + "\n";
    if (line == "[model]") study += "width = 8\nlayers = 1\n";
  }
  EXPECT_THAT(study, HasSubstr("gated_average.py:GatedAverage"));
  write("study.toml", study);
  const ProcessResult swept = run({"sweep", "study.toml", "--jobs", "2"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err << study;
  const ProcessResult runs = run({"runs", "--json"});
  std::map<std::string, int> count;
  const Json rows = parse_json(runs.out, "runs");
  for (const Json& row : rows["runs"]) ++count[row["mixer"].get<std::string>()];
  EXPECT_EQ(count, (std::map<std::string, int>{{"attention", 1}, {"mamba", 1}, {"gated_average.py:GatedAverage", 2}}))
      << runs.out;
}

TEST_F(PythonApp, TheExampleTrainsInAStudyBesideTheCatalog) {
  write_example();
  write("study.toml",
        "[task]\nlength = 8\npairs = 1\nvocab = 16\n[model]\nwidth = 8\nlayers = 1\n"
        "mixer = [\"ema\", \"gated_average.py:GatedAverage\"]\n[model.GatedAverage]\ndecay = [0.5, 0.9]\n"
        "[train]\nbatch = 4\nsteps = 3\neval_examples = 8\ntest_examples = 8\n[[exclude]]\n\"model.mixer\" = \"ema\"\n"
        "\"model.GatedAverage.decay\" = 0.9\n");
  const ProcessResult swept = run({"sweep", "study.toml", "--jobs", "2"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const ProcessResult runs =
      run({"runs", "mixer=gated_average.py:GatedAverage", "model.GatedAverage.decay=0.9", "--json"});
  ASSERT_EQ(runs.exit_code, 0) << runs.err;
  const Json rows = parse_json(runs.out, "runs")["runs"];
  ASSERT_EQ(rows.size(), 1u) << runs.out;
  // The source that it was trained from is kept with the run.
  const Path python = sample.lab.root() / "runs" / rows[0]["id"].get<std::string>() / "python";
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(python))
    kept += entry.path().filename() == "gated_average.py" ? 1 : 0;
  EXPECT_EQ(kept, 1u);
}

TEST_F(PythonApp, AnEditedFileOrModuleBesideItIsAnotherMixer) {
  write_mixer("    from helper import twice\n    return twice(self.a(x))\n");
  write("helper.py", "def twice(x): return 2 * x\n");
  std::set<std::string> ids;
  const auto id = [&] {
    const ProcessResult trained = train("m.py:M");
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return parse_json(trained.out, "train").at("id").get<std::string>();
  };
  const std::string first = id();
  EXPECT_EQ(id(), first);
  write("helper.py", "def twice(x): return x + x\n");
  const std::string second = id();
  EXPECT_NE(second, first);
  write_mixer("    from helper import twice\n    return twice(self.a(x)) * 1\n");
  const std::string third = id();
  EXPECT_NE(third, second);
  EXPECT_NE(third, first);
}

TEST_F(PythonApp, AWindowIsSearchedAndTheSecondPlanAsksNobody) {
  write_example();
  const std::vector<std::string> command =
      joined({"window", "--mixer", "gated_average.py:GatedAverage", "--rates", "4", "--seeds", "1,2", "--json"}, kTiny);
  const ProcessResult window = run(command);
  ASSERT_EQ(window.exit_code, 0) << window.err;
  // All that a plan needs is in the store: a worker that cannot be asked is not missed.
  const ProcessResult planned = run({"show", "mixer", "gated_average.py:GatedAverage"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const ProcessResult again = run({"show", "mixer", "gated_average.py:GatedAverage"}, {"MNEME_WORKER=/bin/false"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, planned.out);
}

TEST_F(PythonApp, ACardAtScaleSmokeHasEveryTestAndAPage) {
  write_example();
  const ProcessResult result =
      run({"card", "gated_average.py:GatedAverage", "--scale", "smoke", "--json", "model.GatedAverage.decay=0.95"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json card = parse_json(result.out, "card");
  EXPECT_EQ(card["tests"].size(), 9u);
  EXPECT_EQ(card["source"].get<std::string>().size(), 16u);
  for (const Json& test : card["tests"]) {
    EXPECT_TRUE(test["score"].is_number()) << test;
    EXPECT_LT(test["chance"].get<double>(), 1) << test;  // with one pair there was one answer
    EXPECT_GT(test["parameters"].get<int>(), 0) << test;
  }
  EXPECT_TRUE(std::filesystem::exists(
      sample.lab.root() / "reports/card-gated_average.py:GatedAverage-smoke-model.GatedAverage.decay=0.95/index.html"));
}

}  // namespace
}  // namespace mneme::cli
