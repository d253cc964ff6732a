#pragma once

#include "catalog/mixer_entry.h"

namespace mneme {

MixerEntry mlp_entry();
MixerEntry glu_entry();
MixerEntry identity_entry();

}  // namespace mneme
