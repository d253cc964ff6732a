// One name, one definition: what belongs to one source is in an anonymous namespace, where another source's struct of
// the same name cannot meet it. Two definitions that do meet are an error that neither compiler nor linker reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "core/text.h"
#include "support/places.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Relative path ("src/core/text.cpp") -> text.
using Sources = std::map<std::string, std::string>;

Sources read_sources() {
  Sources sources;
  const Path root(source_directory());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src")) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp"))
      sources[std::filesystem::relative(entry.path(), root).generic_string()] = read_file(entry.path());
  }
  return sources;
}

struct Definition {
  bool is_type;
  std::string scope, name;  // "mneme::kernels", "AdamWArguments"
  std::size_t line;
};

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

std::string first_word(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) { return is_word(c) || c == ':'; });
  return std::string(text.begin(), end);
}

// The name that ends at `end`, with its qualification.
std::string word_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == ':' || text[begin - 1] == '~')) --begin;
  return std::string(text.substr(begin, end - begin));
}

// "std::map<int, f(g)> h(" -> "std::map h("
std::string without_arguments(std::string_view line) {
  std::string kept;
  int depth = 0;
  for (const char letter : line) {
    depth += letter == '<';
    if (depth == 0) kept += letter;
    depth -= letter == '>' && depth > 0;
  }
  return kept;
}

// What a line that begins in the first column defines with external linkage, or an empty name. Sources are formatted
// by clang-format, so such a line begins a definition at namespace scope.
Definition defined_by(std::string_view text) {
  for (const std::string_view keyword : {"struct ", "class ", "enum class ", "enum ", "union "})
    if (text.starts_with(keyword)) {
      const std::string name = first_word(text.substr(keyword.size()));
      // A member that is defined later belongs to a class that a header declares.
      return {true, "", text.find('{') == text.npos || name.find("::") != name.npos ? "" : name, 0};
    }
  for (const std::string_view keyword :
       {"static ", "using ", "typedef ", "extern ", "template", "const ", "constexpr "})
    if (text.starts_with(keyword)) return {};
  const std::string line = without_arguments(text);
  const std::size_t end = std::min(line.find_first_of("(={;["), line.size());
  std::size_t name_end = end;
  while (name_end > 0 && line[name_end - 1] == ' ') --name_end;
  const std::string name = word_before(line, name_end);
  const bool is_macro = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (is_macro || name == "main" || name.find("::") != name.npos || name.starts_with("operator")) return {};
  return {false, "", name, 0};
}

// Everything that a file defines outside anonymous namespaces.
std::vector<Definition> definitions_of(const std::string& text) {
  std::vector<Definition> found;
  std::vector<std::string> scopes;
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("namespace ") && line.ends_with("{")) {
      const std::string name = first_word(std::string_view(line).substr(10));
      scopes.push_back(name);
    } else if (line.starts_with("}  // namespace")) {
      if (!scopes.empty()) scopes.pop_back();
    } else if (!line.empty() && is_word(line[0]) && !scopes.empty() &&
               std::find(scopes.begin(), scopes.end(), "") == scopes.end()) {
      Definition definition = defined_by(line);
      if (definition.name.empty()) continue;
      for (const std::string& scope : scopes) definition.scope += (definition.scope.empty() ? "" : "::") + scope;
      definition.line = i + 1;
      found.push_back(definition);
    }
  }
  return found;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/', 4)); }

// Whether `name` occurs in `text` as a whole word before one of these letters.
bool occurs(const std::string& text, const std::string& name, std::string_view before) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && end < text.size() && before.find(text[end]) != before.npos) return true;
  }
  return false;
}

bool is_declared(const std::string& headers, const Definition& definition) {
  if (!definition.is_type) return occurs(headers, definition.name, "(;[");
  return occurs(headers, "struct " + definition.name, ";") || occurs(headers, "class " + definition.name, ";");
}

std::vector<std::string> unprotected(const Sources& sources) {
  std::map<std::string, std::string> headers;
  for (const auto& [path, text] : sources)
    if (path.ends_with(".h") && !path.ends_with("-inl.h")) headers[folder_of(path)] += text;
  std::vector<std::string> problems;
  for (const auto& [path, text] : sources) {
    if (!path.ends_with(".cpp") && !path.ends_with("-inl.h")) continue;
    for (const Definition& definition : definitions_of(text))
      if (path.ends_with("-inl.h") || !is_declared(headers[folder_of(path)], definition))
        problems.push_back(path + ":" + std::to_string(definition.line) + ": " + definition.name);
  }
  return problems;
}

std::vector<std::string> defined_twice(const Sources& sources) {
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& [path, text] : sources)
    if (path.ends_with(".h"))
      for (const Definition& definition : definitions_of(text))
        if (definition.is_type) places[definition.scope + "::" + definition.name].push_back(path);
  std::vector<std::string> problems;
  for (const auto& [name, paths] : places)
    if (paths.size() > 1) problems.push_back(name + ": " + paths[0] + ", " + paths[1]);
  return problems;
}

TEST(OneDefinition, WhatNoHeaderDeclaresIsAnonymous) {
  const Sources sources = read_sources();
  ASSERT_GT(sources.size(), 300U);
  EXPECT_THAT(unprotected(sources), IsEmpty());
}

TEST(OneDefinition, NoTypeIsInTwoHeaders) { EXPECT_THAT(defined_twice(read_sources()), IsEmpty()); }

TEST(OneDefinition, PlantedDefinitionsAreReported) {
  const std::string open = "namespace mneme::kernels::HWY_NAMESPACE {\n",
                    close = "}  // namespace mneme::kernels::HWY_NAMESPACE\n";
  const Sources sources = {
      {"src/kernels/a.h", "namespace mneme::kernels {\nvoid known(int x);\nstruct Later;\nextern int shared;\n"},
      {"src/kernels/b.cpp", open + "struct BackwardRows {\n  int a;\n};\nvoid known(int x) {}\n" + close},
      {"src/kernels/c.cpp", open + "namespace {\nstruct BackwardRows {\n};\n}  // namespace\n" + close},
      {"src/kernels/d.cpp", open + "std::map<int, f(int)> local(int x) {\nint count = 0;\nstruct Later {\n" + close},
      {"src/kernels/e-inl.h", open + "inline void known(int x) {\n" + close},
      {"src/kernels/f.cpp", open + "static void g() {\nconst int k = 1;\nint shared = 1;\nHWY_EXPORT(f);\n" + close},
      {"src/tasks/g.cpp", open + "void known(int x) {\n" + close},
  };
  EXPECT_THAT(unprotected(sources),
              ElementsAre("src/kernels/b.cpp:2: BackwardRows", "src/kernels/d.cpp:2: local",
                          "src/kernels/d.cpp:3: count", "src/kernels/e-inl.h:2: known", "src/tasks/g.cpp:2: known"));
}

TEST(OneDefinition, PlantedTwinsAreReported) {
  const auto header = [](const std::string& scope) {
    return "namespace " + scope + " {\nstruct Group {\n};\n}  // namespace " + scope + "\n";
  };
  EXPECT_THAT(defined_twice({{"src/report/a.h", header("mneme")}, {"src/tasks/b.h", header("mneme")}}),
              ElementsAre("mneme::Group: src/report/a.h, src/tasks/b.h"));
  EXPECT_THAT(defined_twice({{"src/report/a.h", header("mneme::report")}, {"src/tasks/b.h", header("mneme::tasks")}}),
              IsEmpty());
}

}  // namespace
}  // namespace mneme
