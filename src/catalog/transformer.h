#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// torch's TransformerEncoderLayer with a causal mask: attention and its own feed-forward network in one mixer.
MixerEntry transformer_entry();

}  // namespace mneme::catalog
