#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Structured state-space models whose parameters do not depend on the input.
MixerEntry s4d_entry();
MixerEntry s4_entry();
MixerEntry h3_entry();

}  // namespace mneme::catalog
