// Conditions on runs as people type them: mixer=attention,mamba lr>1e-3 state=done task.length=64 'test>=90%'.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/sqlite.h"

namespace mneme::store {

// Something to filter or sort by: a column of the index (id, state, task, mixer, width, layers, lr, seed,
// validation, test, steps, seconds, changed), a tag, text in the note, or a path into the configuration (task.length).
struct RunKey {
  std::string column;     // an SQL expression of ours, with one parameter if `path` is not empty
  std::string path;       // "$.task.length", or ""
  std::string name = {};  // as it was typed
};

// Throws Error(usage) with the nearest known key.
RunKey parse_run_key(std::string_view name);

struct RunFilter {
  RunKey key;
  std::string comparison;  // =, !=, <, <=, >, >=
  // With = one of them, with != none of them; exactly one with the others.
  std::vector<std::variant<double, std::string>> values;
};

// Throws Error(usage) for anything that is not KEY OPERATOR VALUE[,VALUE ...], for words where a column holds numbers,
// and for unknown states. Accuracies may be percentages: 90% is 0.9.
// Which tasks, mixers and options there are is not known here: see study/run_filters.h.
RunFilter parse_run_filter(std::string_view text);

// The filters as an SQL condition with parameters ("1" without filters), and the binding of those.
std::string sql_condition(const std::vector<RunFilter>& filters);
void bind_condition(Statement& statement, const std::vector<RunFilter>& filters);

}  // namespace mneme::store
