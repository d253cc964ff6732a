// Filters of the command line, checked against what tasks, mixers and options there are.
#pragma once

#include <string_view>

#include "store/run_filter.h"

namespace mneme::study {

// As store::parse_run_filter; also throws Error(usage), with the nearest name, for a task, mixer or option that there
// is not, and for a word where an option is a number: a filter that cannot match is a mistake, not an empty answer.
store::RunFilter parse_filter(std::string_view text);
// The same for a key to sort by.
store::RunKey parse_key(std::string_view name);

}  // namespace mneme::study
