// What a result's bits depend on besides the configuration.
#pragma once

#include "core/json.h"

namespace mneme::worker {

Json fingerprint();

}  // namespace mneme::worker
