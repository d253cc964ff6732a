// A mixer that is built, held to what its catalog entry declares.
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

// Throws Error(mismatch) if the module has other numbers of parameters, or carries a state of another size, than
// declared: plans, tables and figures are made of the declarations. A state that grows with the length is not
// measured here, because that takes steps; `mneme check` does it.
void hold_to_declaration(const Mixer& mixer, const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                         const Options& options);

}  // namespace mneme::mixers
