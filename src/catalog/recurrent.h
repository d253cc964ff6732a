#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// The classic cells with gradients through time, as torch.nn has them.
MixerEntry rnn_entry();
MixerEntry lstm_entry();
MixerEntry gru_entry();

// The option hidden_size, where 0 stands for the width.
std::int64_t hidden_size(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
