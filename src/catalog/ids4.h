#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Input-dependent state-space model: running products of dense matrices.
MixerEntry ids4_entry();

}  // namespace mneme::catalog
