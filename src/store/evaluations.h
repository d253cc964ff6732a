// What trained runs did on other data: evaluations/NAME.json in a run's directory (docs/evaluate.md). The run itself
// does not change: its id, its summary and its weights stay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/run_directory.h"

namespace mneme::store {

// A name is letters, digits, '-', '_', '=' and '.', not first; throws Error(usage) for others.
void check_evaluation_name(const std::string& name);

Path evaluation_file(const RunDirectory& directory, const std::string& name);

// Replaces one of the same name in one step.
void save_evaluation(const RunDirectory& directory, const std::string& name, const Json& evaluation);

// Nothing if there is none; throws Error(data) if it is damaged.
std::optional<Json> load_evaluation(const RunDirectory& directory, const std::string& name);

// The names, sorted.
std::vector<std::string> evaluation_names(const RunDirectory& directory);

}  // namespace mneme::store
