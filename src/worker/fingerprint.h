// What a result's bits depend on, apart from the configuration.
#pragma once

#include <string>

#include "core/json.h"

namespace mneme::worker {

Json fingerprint(const std::string& device = "cpu");

}  // namespace mneme::worker
