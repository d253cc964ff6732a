// Values of a study that follow from others.
//
//   batch = "16384 / length"                                   arithmetic: + - * / ( ) min(a, b) max(a, b)
//   d_state = "length"                                         a name alone
//   batch = { by = "length", 64 = 512, 128 = 256, default = 64 }   a table, looked up
//
// Names are paths (task.length, model.width); a name without a dot is an option of the task, then of the model,
// then of the trainer. On a field that is not a number an expression begins with '=': "= max(2, layers)". A division
// whose result is whole is an integer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/config.h"

namespace mneme::study {

// The number that a name means; nothing if there is no such name.
using NameLookup = std::function<std::optional<double>(std::string_view name)>;

// The value of an expression; nothing if the text is none. Throws Error(usage) at `origin` for a division by zero, and,
// if the text begins with '=', for anything that is not an expression or an unknown name.
std::optional<double> evaluate_expression(std::string_view text, std::string_view origin, const NameLookup& lookup);

// True if this value of the field `path` ("train.batch") may be one that follows from others.
bool may_depend(const std::string& path, const ConfigValue& value);

// Replaces every dependent value of a configuration by its result. Throws Error(usage) at the value for a name
// that depends on itself, a table without the entry it needs, and arithmetic that cannot be done.
void settle_dependents(ConfigValue& root);

}  // namespace mneme::study
