// Mixers from a user's Python file, through the real programs: docs/python.md as a new user would try it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;
using ::testing::Not;

class PythonApp : public testing::AppTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(binary_directory() + "/libmneme_python.so"))
      GTEST_SKIP() << "the bridge to Python is not built: script/bootstrap --python, then configure again";
  }

  std::string file(const std::string& name) const { return (sample.directory / name).string(); }
  void write(const std::string& name, const std::string& text) const { write_file_atomically(file(name), text); }

  // In the directory of the test, with a store of its own.
  ProcessResult run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command = {"env", "-C", sample.directory.path().string(), "MNEME_CACHE=" + file("cache"),
                                        "MNEME_LAB=" + sample.lab.root().string()};
    command = joined(command, environment);
    command.push_back(binary_directory() + "/mneme");
    return run_process(joined(command, arguments));
  }
  ProcessResult train(const std::string& mixer, const std::vector<std::string>& more = {}) const {
    return run(joined(joined({"train"}, joined(kTiny, more)), {"model.mixer=" + mixer, "--json"}));
  }

  // The module that the documentation prints.
  void write_example() const {
    const std::string page = read_file(Path(source_directory()) / "docs/python.md"), open = "```python\n";
    const std::size_t begin = page.find(open) + open.size();
    write("gated_average.py", page.substr(begin, page.find("```", begin) - begin));
  }
  // A class M whose forward is this body.
  void write_mixer(const std::string& body, const std::string& arguments = "") const {
    write("m.py", "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width" + arguments +
                      "):\n    super().__init__()\n    self.a = torch.nn.Linear(width, width)\n    self.calls = 0\n"
                      "  def forward(self, x):\n" +
                      body);
  }
};

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

struct WrongMixer {
  const char* what;
  std::string file, mixer;
  int exit_code;
  std::string message;
};

TEST_F(PythonApp, WhatIsWrongWithAFileIsSaidWithAnExitCode) {
  const std::string good =
      "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width, *, decay: float = 0.9): "
      "super().__init__()\n  def forward(self, x): return x\n";
  const std::vector<WrongMixer> cases = {
      {"syntax", "import torch\nclass M(:\n", "m.py:M", 2, "File \"m.py\", line 2"},
      {"class", good, "m.py:N", 2, "the class N is not there; its modules are: M"},
      {"no module", "class M: pass\n", "m.py:M", 2, "is not a torch.nn.Module"},
      {"no class", good, "m.py", 2, "expected FILE.py:Class"},
      {"no file", good, "missing.py:M", 3, "no Python file missing.py"},
      {"import", "import not_there\n", "m.py:M", 2, "ModuleNotFoundError: No module named 'not_there'"},
      {"argument", "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width, config): pass\n", "m.py:M", 2,
       "the argument config has no default"},
      {"name", "import torch\nclass ema(torch.nn.Module): pass\n", "m.py:ema", 2,
       "has the name of a mixer of the catalog"},
  };
  for (const WrongMixer& wrong : cases) {
    write("m.py", wrong.file);
    const ProcessResult result = train(wrong.mixer);
    EXPECT_EQ(result.exit_code, wrong.exit_code) << wrong.what << result.err;
    EXPECT_THAT(parse_json(result.err, "error")["error"]["message"].get<std::string>(), HasSubstr(wrong.message))
        << wrong.what;
  }
  write("m.py", good);
  const ProcessResult unknown = train("m.py:M", {"model.M.deacy=0.5"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("model.M: unknown key 'deacy', did you mean 'decay'?"));
  const ProcessResult wrong = train("m.py:M", {"model.M.decay=fast"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("model.M.decay: got \\\"fast\\\", expected a number"));
}

TEST_F(PythonApp, AMissingTorchIsSaid) {
  write_example();
  write("sitecustomize.py", "import sys\nsys.path = [p for p in sys.path if 'dist-packages' not in p]\n");
  const ProcessResult result =
      run({"check", "gated_average.py:GatedAverage"}, {"PYTHONPATH=" + sample.directory.path().string()});
  EXPECT_EQ(result.exit_code, 4) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("has no torch"), HasSubstr("python3-torch")));
}

TEST_F(PythonApp, AWorkerWithoutTheBridgeSaysWhatIsMissing) {
  write_example();
  const ProcessResult result =
      run({"check", "gated_average.py:GatedAverage"}, {"MNEME_PYTHON_BRIDGE=" + file("libmneme_python.so")});
  EXPECT_EQ(result.exit_code, 4) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("pybind11-dev"), HasSubstr("python3-torch")));
}

TEST_F(PythonApp, AnExceptionInALaterStepFailsItsRunWithTheLastLines) {
  write_mixer(
      "    self.calls += self.training\n    if self.calls > 100: raise ValueError('enough is enough')\n"
      "    return self.a(x)\n");
  const ProcessResult result = train("m.py:M", {"train.steps=120"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out,
              AllOf(HasSubstr("ValueError: enough is enough"), HasSubstr("line 9, in forward"), HasSubstr("m.py")));
}

TEST_F(PythonApp, AWrongShapeFailsTheRun) {
  write_mixer("    return self.a(x)[:, 1:]\n");
  const ProcessResult result = train("m.py:M");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("forward returned a tensor of shape [1, 5, 64], expected [1, 6, 64]"));
}

TEST_F(PythonApp, ChecksFindWhatIsWrongWithAModule) {
  struct Case {
    const char* check;
    const char* body;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"shape", "    return self.a(x).mean(1)\n", "forward returned a tensor of shape [3, 16]"},
      {"causality", "    return self.a(x) + x.mean(1, keepdim=True)\n", "tokens change earlier outputs"},
      {"repeat", "    self.calls += 1\n    return self.a(x) * self.calls\n", "keeps state between calls"},
      {"repeat", "    import random\n    return self.a(x) * random.random()\n", "is not deterministic"},
      {"gradient", "    return self.a(x) + (x * x).detach()\n", "worst gradient error"},
      {"shape", "    print('to the standard output')\n    raise RuntimeError('no')\n", "RuntimeError: no"},
  };
  for (const Case& wrong : cases) {
    write_mixer(wrong.body);
    const ProcessResult result = run({"check", "m.py:M", "--no-cost", "--json"});
    EXPECT_EQ(result.exit_code, 6) << wrong.body << result.err;
    bool found = false;
    const Json report = parse_json(result.out, "check");
    for (const Json& row : report["mixers"][0]["checks"])
      if (row["check"] == wrong.check && row["verdict"] == "failed")
        found = row["detail"].get<std::string>().find(wrong.message) != std::string::npos;
    EXPECT_TRUE(found) << wrong.body << result.out;
  }
}

// Without a step nothing is promised, so a square cost is no failure; but it is no pass either.
TEST_F(PythonApp, ASquareModuleIsJudgedByItsPromise) {
  const std::string square =
      "    L = x.shape[1]\n    seen = torch.ones(L, L, dtype=x.dtype).tril() / torch.arange(1, L + 1)[:, None]\n"
      "    return self.a(seen.to(x.dtype) @ x)\n";
  const auto rows = [&](int exit_code) {
    const ProcessResult result = run({"check", "m.py:M", "--json"});
    EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
    std::map<std::string, Json> found;
    for (const Json& row : parse_json(result.out, "check")["mixers"][0]["checks"]) found[row["check"]] = row;
    return found;
  };
  write_mixer(square);
  auto silent = rows(0);
  for (const char* check : {"memory", "cost"}) {
    EXPECT_EQ(silent[check]["verdict"], "not_applicable") << silent[check];
    EXPECT_THAT(silent[check]["detail"].get<std::string>(),
                HasSubstr("not judged, because without initial_state and step the module declares no constant-size state"));
  }
  write_mixer(square +
              "  def initial_state(self, batch): return (self.a.weight.new_zeros(batch, self.a.in_features),\n"
              "                                          self.a.weight.new_zeros(batch, 1))\n"
              "  def step(self, state, x):\n    total, n = state[0] + x, state[1] + 1\n"
              "    return self.a(total / n), (total, n)\n");
  auto promised = rows(6);
  EXPECT_EQ(promised["step"]["verdict"], "passed") << promised["step"];
  EXPECT_EQ(promised["memory"]["verdict"], "failed") << promised["memory"];
  EXPECT_EQ(promised["cost"]["verdict"], "failed") << promised["cost"];
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
    EXPECT_GT(test["parameters"].get<int>(), 0) << test;
  }
  EXPECT_TRUE(std::filesystem::exists(
      sample.lab.root() / "reports/card-gated_average.py:GatedAverage-smoke-model.GatedAverage.decay=0.95/index.html"));
}

}  // namespace
}  // namespace mneme::cli
