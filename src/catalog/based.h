// Based: linear attention with Taylor features.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry based_entry();

}  // namespace mneme::catalog
