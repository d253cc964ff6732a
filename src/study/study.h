// A study: a file that describes a grid of runs and how to draw them.
//
//   title = "..."
//   [task] [model] [train] [test]   as for one run; a list or a series is an axis (study/grid.h)
//   zip = [["task.length", "task.pairs"]]   axes that vary together
//   [[exclude]]              conditions that take points out (study/conditions.h)
//   [[include]]              task, model, train, test laid over the above: one more grid, not touched by exclude
//   [scale.NAME]             task = {...}, model = {...}, ... laid over the above
//   [figure] or [[figure]]   what to draw (report/figures/kinds.h)
//   [[paper]]                what the paper reports (study/paper.h)
//
// docs/studies.md has every key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "study/grid.h"
#include "study/paper.h"

namespace mneme::study {

struct Study {
  std::string name;  // the file's stem, or its place under studies/: "recall/fig1"
  std::string title;
  std::string scale;                   // "" for the file as it is written
  std::vector<std::string> overrides;  // that made it another study than the file's, sorted
  std::vector<std::string> scales;     // that the file knows
  std::vector<Axis> axes;
  std::vector<config::RunConfig> runs;
  std::vector<ConfigValue> figures;  // as written; checked when they are drawn (report/figures/kinds.h)
  std::vector<PaperValue> paper;

  // Name, scale and overrides, for files: "recall-fig1-laptop", "demo-smoke-train.steps=50". A study with overrides is
  // a study of its own: nothing that is kept under this name is shared with another.
  std::string file_name() const;
};

// A name for files of what the words make of something: "window-mamba-rates=7". Readable where the words are short and
// plain, else with a hash of them; their order means nothing, and without words it is the name alone.
std::string variant_name(const std::string& name, std::vector<std::string> words);

struct StudyOptions {
  std::string scale;                   // "": kDefaultScale if the study has it, else as written
  std::vector<std::string> overrides;  // a.b=value, laid over everything
};

inline constexpr std::string_view kDefaultScale = "laptop";
// Asks for the study as it is written, whatever scales it has.
inline constexpr std::string_view kUnscaled = "none";

// Throws Error(usage) with file, line and column.
Study parse_study(std::string_view text, const Path& file, const StudyOptions& options = {});
Study load_study(const Path& file, const StudyOptions& options = {});

// Title and scales of a file, without making its runs.
struct StudyOutline {
  std::string name, title;
  std::vector<std::string> scales;
  std::int64_t runs = 0;  // at the default scale
};
StudyOutline outline_study(std::string_view text, const Path& file);

}  // namespace mneme::study
