#pragma once

#include "catalog/mixer_entry.h"

namespace mneme {

// Input-dependent state-space model: running products of dense matrices.
MixerEntry ids4_entry();

}  // namespace mneme
