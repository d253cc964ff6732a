#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry mlp_entry();
MixerEntry glu_entry();
MixerEntry identity_entry();

}  // namespace mneme::catalog
