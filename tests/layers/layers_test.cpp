// Dependencies between the folders of src point downwards only, and torch stays where it is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/text.h"
#include "support/places.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Folders = std::set<std::string>;

// Which folders a folder may include in addition to itself.
const std::map<std::string, Folders> kAllowed = {
    {"core", {}},
    {"kernels", {"core"}},
    {"tasks", {"core"}},
    {"catalog", {"core", "tasks"}},
    {"config", {"core", "tasks", "catalog"}},
    {"ops", {"core", "kernels"}},
    {"nn", {"core", "kernels", "catalog", "ops"}},
    {"mixers", {"core", "kernels", "catalog", "ops", "nn"}},
    {"python", {"core", "mixers"}},
    {"check", {"core", "catalog", "ops", "nn", "mixers"}},
    {"models", {"core", "kernels", "tasks", "catalog", "config", "ops", "nn", "mixers"}},
    {"train", {"core", "kernels", "tasks", "catalog", "config", "ops", "nn", "mixers", "models"}},
    {"inspect", {"core", "kernels", "tasks", "catalog", "config", "ops", "nn", "mixers", "models", "train"}},
    {"measure", {"core", "kernels", "tasks", "catalog", "config", "ops", "nn", "mixers", "models", "train"}},
    {"store", {"core"}},
    {"study", {"core", "tasks", "catalog", "config", "store"}},
    {"run", {"core", "tasks", "catalog", "config", "store", "study"}},
    {"cluster", {"core", "tasks", "catalog", "config", "store", "study", "run"}},
    {"report", {"core", "tasks", "catalog", "config", "store", "study", "run"}},
    {"serve", {"core", "tasks", "catalog", "config", "store", "study", "run", "cluster", "report"}},
    {"worker",
     {"core", "kernels", "tasks", "catalog", "config", "ops", "nn", "mixers", "check", "models", "train", "inspect",
      "measure", "store"}},
    {"cli", {"core", "tasks", "catalog", "config", "store", "study", "run", "cluster", "report", "serve"}},
};
const Folders kTorchFolders = {"ops",    "nn",    "mixers",  "python",  "check",
                               "models", "train", "inspect", "measure", "worker"};

// Relative path ("src/core/text.cpp") -> text.
using Sources = std::map<std::string, std::string>;

Sources read_sources() {
  Sources sources;
  const Path root(source_directory());
  for (const char* top : {"src", "bench"}) {
    if (!std::filesystem::exists(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file() && Folders{".h", ".cpp", ".inc", ".cc", ".hpp"}.contains(extension))
        sources[std::filesystem::relative(entry.path(), root).generic_string()] = read_file(entry.path());
    }
  }
  return sources;
}

// The folder below src or bench that a file is in; "" for a file at the top.
std::string folder_of(const std::string& path) {
  const auto parts = split(path, '/');
  return parts.size() > 2 ? parts[1] : "";
}

struct Include {
  std::size_t line;
  std::string name;  // with its quotes or angle brackets
};

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line;
    for (const char letter : lines[i])
      if (letter != ' ' && letter != '\t' && letter != '\r') line += letter;
    if (line.starts_with("#include")) found.push_back({i + 1, line.substr(8)});
  }
  return found;
}

std::string report(const std::string& path, const Include& include, const std::string& why) {
  return path + ":" + std::to_string(include.line) + ": " + include.name + ": " + why;
}

std::vector<std::string> upward_edges(const Sources& sources) {
  std::vector<std::string> problems;
  for (const auto& [path, text] : sources) {
    if (!path.starts_with("src/")) continue;
    const std::string folder = folder_of(path);
    const auto allowed = kAllowed.find(folder);
    if (allowed == kAllowed.end()) {
      problems.push_back(path + ": the folder has no place in the order");
      continue;
    }
    for (const Include& include : includes_of(text)) {
      if (!include.name.starts_with('"')) continue;
      const std::string target = include.name.substr(1, include.name.find('/') - 1);
      if (target == folder || allowed->second.contains(target)) continue;
      // A name without a folder, or with one outside src, would escape the check.
      problems.push_back(report(
          path, include, kAllowed.contains(target) ? folder + " may not include " + target : "not a folder of src"));
    }
  }
  return problems;
}

std::vector<std::string> torch_outside(const Sources& sources) {
  std::vector<std::string> problems;
  for (const auto& [path, text] : sources) {
    if (path.starts_with("src/") && kTorchFolders.contains(folder_of(path))) continue;
    for (const Include& include : includes_of(text))
      for (const char* header : {"torch/", "ATen/", "c10/"})
        if (include.name.substr(1).starts_with(header))
          problems.push_back(report(path, include, "torch is not allowed here"));
  }
  return problems;
}

TEST(Layers, IncludesPointDownwards) {
  const Sources sources = read_sources();
  ASSERT_TRUE(sources.contains("src/core/text.cpp")) << "the sources were not found";
  EXPECT_THAT(upward_edges(sources), IsEmpty());
}

TEST(Layers, TorchHeadersStayWhereTheyAreAllowed) { EXPECT_THAT(torch_outside(read_sources()), IsEmpty()); }

TEST(Layers, TheOrderItselfHasNoCycle) {
  // Whatever a folder may include must be placeable before it.
  Folders placed;
  for (std::size_t round = 0; round < kAllowed.size(); ++round)
    for (const auto& [folder, below] : kAllowed)
      if (std::includes(placed.begin(), placed.end(), below.begin(), below.end())) placed.insert(folder);
  EXPECT_EQ(placed.size(), kAllowed.size());
}

TEST(Layers, PlantedWrongEdgesAreReported) {
  const Sources sources = {
      {"src/core/a.cpp", "#include \"core/a.h\"\n#include <string>\n  #  include \"tasks/task.h\"\n"},
      {"src/cli/b.cpp", "#include \"report/figure.h\"\n#include \"train/loop.h\"\r\n"},
      {"src/tasks/c.h", "// #include \"cli/b.h\"\n#include \"core/a.h\"\n#include \"sibling.h\"\n"},
      {"src/extra/d.h", ""},
      {"src/train/e.cpp", "#include \"models/stack.h\"\n"},
  };
  EXPECT_THAT(upward_edges(sources), ElementsAre("src/cli/b.cpp:2: \"train/loop.h\": cli may not include train",
                                                 "src/core/a.cpp:3: \"tasks/task.h\": core may not include tasks",
                                                 "src/extra/d.h: the folder has no place in the order",
                                                 "src/tasks/c.h:3: \"sibling.h\": not a folder of src"));
}

TEST(Layers, PlantedTorchIsReported) {
  const Sources sources = {
      {"src/core/a.cpp", "#include <torch/torch.h>\n"},          {"src/kernels/b.cpp", "#include \"ATen/ATen.h\"\n"},
      {"bench/kernels/c.cpp", "#include <c10/core/Device.h>\n"}, {"src/mixers/d.cpp", "#include <torch/torch.h>\n"},
      {"src/report/e.cpp", "#include <torchlight.h>\n"},
  };
  EXPECT_THAT(torch_outside(sources),
              ElementsAre("bench/kernels/c.cpp:1: <c10/core/Device.h>: torch is not allowed here",
                          "src/core/a.cpp:1: <torch/torch.h>: torch is not allowed here",
                          "src/kernels/b.cpp:1: \"ATen/ATen.h\": torch is not allowed here"));
}

}  // namespace
}  // namespace mneme
