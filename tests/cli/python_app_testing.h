// The real programs with mixers from a user's Python file, in a directory of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/app_testing.h"

namespace mneme::testing {

class PythonAppTest : public AppTest {
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

  static std::string documentation() { return read_file(Path(source_directory()) / "docs/python.md"); }
  // The module that the documentation prints.
  void write_example() const {
    const std::string page = documentation(), open = "```python\n";
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

}  // namespace mneme::testing
