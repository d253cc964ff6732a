// ema: a moving average per channel. The smallest mixer on the list, and the example of CONTRIBUTING.md.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry ema_entry();

}  // namespace mneme::catalog
