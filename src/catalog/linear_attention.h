// Linear attention with a feature map.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme {

MixerEntry linear_attention_entry();

}  // namespace mneme
