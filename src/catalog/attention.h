#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Causal softmax attention with the options of spec section 2.
MixerEntry attention_entry();

}  // namespace mneme::catalog
