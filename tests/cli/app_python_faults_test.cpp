// Python mixers with something wrong: each mistake of a new user has a message that names it, and an exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cli/python_app_testing.h"

namespace mneme::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PythonFaults : public testing::PythonAppTest {};

struct WrongMixer {
  const char* what;
  std::string file, mixer;
  int exit_code;
  std::string message;
};

TEST_F(PythonFaults, WhatIsWrongWithAFileIsSaidWithAnExitCode) {
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
      {"argument",
       "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width, config): pass\n"
       "  def forward(self, x): return x\n",
       "m.py:M", 2, "the argument config has no default"},
      {"forward", "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width): super().__init__()\n",
       "m.py:M", 2, "the class M has no method forward(self, x), expected one"},
      {"super",
       "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width): self.a = torch.nn.Linear(width, width)\n"
       "  def forward(self, x): return x\n",
       "m.py:M", 2, "cannot assign module before Module.__init__() call"},
      {"lazy",
       "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width):\n    super().__init__()\n"
       "    self.a = torch.nn.LazyLinear(width)\n  def forward(self, x): return self.a(x)\n",
       "m.py:M", 2, "parameter 'a.weight' has no shape before the first call"},
      {"double",
       "import torch\nclass M(torch.nn.Module):\n  def __init__(self, width):\n    super().__init__()\n"
       "    self.a = torch.nn.Linear(width, width).double()\n  def forward(self, x): return "
       "self.a(x.double()).float()\n",
       "m.py:M", 2, "parameter 'a.weight' is of type Double, expected Float (torch.float32)"},
      {"ending", good, "m:M", 2, "expected a mixer of the catalog (mneme list mixers) or FILE.py:Class"},
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

TEST_F(PythonFaults, AMissingTorchIsSaid) {
  write_example();
  write("sitecustomize.py", "import sys\nsys.path = [p for p in sys.path if 'dist-packages' not in p]\n");
  const ProcessResult result =
      run({"check", "gated_average.py:GatedAverage"}, {"PYTHONPATH=" + sample.directory.path().string()});
  EXPECT_EQ(result.exit_code, 4) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("has no torch"), HasSubstr("python3-torch")));
}

TEST_F(PythonFaults, AWorkerWithoutTheBridgeSaysWhatIsMissing) {
  write_example();
  const ProcessResult result =
      run({"check", "gated_average.py:GatedAverage"}, {"MNEME_PYTHON_BRIDGE=" + file("libmneme_python.so")});
  EXPECT_EQ(result.exit_code, 4) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("pybind11-dev"), HasSubstr("python3-torch")));
}

TEST_F(PythonFaults, AnExceptionInALaterStepFailsItsRunWithTheLastLines) {
  write_mixer(
      "    self.calls += self.training\n    if self.calls > 100: raise ValueError('enough is enough')\n"
      "    return self.a(x)\n");
  const ProcessResult result = train("m.py:M", {"train.steps=120"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out,
              AllOf(HasSubstr("ValueError: enough is enough"), HasSubstr("line 9, in forward"), HasSubstr("m.py")));
}

TEST_F(PythonFaults, AWrongShapeFailsTheRun) {
  write_mixer("    return self.a(x)[:, 1:]\n");
  const ProcessResult result = train("m.py:M");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("forward returned a tensor of shape [1, 5, 64], expected [1, 6, 64]"));
}

TEST_F(PythonFaults, AWrongTypeFailsTheRun) {
  write_mixer("    return self.a(x).double()\n");
  const ProcessResult wide = train("m.py:M");
  EXPECT_EQ(wide.exit_code, 5) << wide.err;
  EXPECT_THAT(wide.err + wide.out,
              HasSubstr("forward returned a tensor of type Double, expected Float: the type of its input"));
  // It trained to the end, with the integers as the mixer's output.
  write_mixer("    return (self.a(x) > 0).long()\n");
  const ProcessResult whole = train("m.py:M");
  EXPECT_EQ(whole.exit_code, 5) << whole.err;
  EXPECT_THAT(whole.err + whole.out, HasSubstr("type Long, expected Float"));
}

// What the module reads is also what the residual stream holds.
TEST_F(PythonFaults, AnInputThatIsChangedInPlaceFailsTheRun) {
  write_mixer("    x.mul_(2)\n    return self.a(x)\n");
  const ProcessResult result = train("m.py:M");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out,
              HasSubstr("forward changed its input in place, expected it to make a new tensor"));
}

// It waited for ever for a line, among the worker's requests.
TEST_F(PythonFaults, AModuleThatAsksTheUserGetsNoAnswer) {
  write_mixer("    input('how wide? ')\n    return self.a(x)\n");
  const ProcessResult result = train("m.py:M");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("EOFError"));
}

TEST_F(PythonFaults, AConstructorThatFailsIsOneErrorOfTheCheck) {
  write_mixer("    return x\n", ", groups=3");
  write("m.py",
        read_file(file("m.py")) + "class N(M):\n  def __init__(self, width):\n    raise ValueError('not today')\n");
  const ProcessResult result = run({"check", "m.py:N", "--no-cost"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("in __init__: raise ValueError('not today') | ValueError: not today"));
  EXPECT_THAT(result.out, Not(HasSubstr("FAIL")));
}

// It counted as 0, which is a statement.
TEST_F(PythonFaults, AnUnknownStateIsNotZero) {
  write_mixer("    return self.a(x)\n");
  const ProcessResult text = run({"show", "mixer", "m.py:M"}), json = run({"show", "mixer", "m.py:M", "--json"});
  EXPECT_THAT(text.out, HasSubstr("a state of unknown size (the class has no step)")) << text.err;
  EXPECT_TRUE(parse_json(json.out, "show")["at"]["state"].is_null()) << json.out;
}

TEST_F(PythonFaults, ChecksFindWhatIsWrongWithAModule) {
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
      {"gradient", "    return self.a(x).detach()\n", "the output of forward has no gradient"},
      {"repeat", "    x.mul_(2)\n    return self.a(x)\n", "forward changed its input in place"},
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
TEST_F(PythonFaults, ASquareModuleIsJudgedByItsPromise) {
  const std::string square =
      "    L = x.shape[1]\n    seen = torch.ones(L, L, dtype=x.dtype).tril() / torch.arange(1, L + 1)[:, None]\n"
      "    return self.a(seen.to(x.dtype) @ x)\n";
  const auto rows = [&](int exit_code) {
    const ProcessResult result = run({"check", "m.py:M", "--json"});
    EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
    std::map<std::string, Json> found;
    const Json report = parse_json(result.out, "check");
    for (const Json& row : report["mixers"][0]["checks"]) found[row["check"]] = row;
    return found;
  };
  write_mixer(square);
  auto silent = rows(0);
  for (const char* check : {"memory", "cost"}) {
    EXPECT_EQ(silent[check]["verdict"], "not_applicable") << silent[check];
    EXPECT_THAT(
        silent[check]["detail"].get<std::string>(),
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

}  // namespace
}  // namespace mneme::cli
