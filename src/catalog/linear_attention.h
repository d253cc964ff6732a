// Linear attention with a feature map.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry linear_attention_entry();

}  // namespace mneme::catalog
