#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Non-saturating recurrent unit, in three variants.
MixerEntry nru_entry();

}  // namespace mneme::catalog
