#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Gated long convolution with a filter computed from the position.
MixerEntry hyena_entry();

}  // namespace mneme::catalog
