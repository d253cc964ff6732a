// What kind of value each field of a configuration takes, by its path.
#pragma once

#include <string>

#include "core/schema.h"

namespace mneme::study {

// A field whose value is itself a list: in a study only a list of lists is an axis of it. Which task is meant may be
// an axis, so a path counts if it is a list in any task.
bool is_list_field(const std::string& path);
// A field that takes a number, and not this word instead of one.
bool is_number_field(const std::string& path, const std::string& word);

}  // namespace mneme::study
