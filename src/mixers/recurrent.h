// The classic recurrent cells (docs/mixers/rnn.md, lstm.md, gru.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme {

MixerPointer build_rnn(const MixerContext& context, const Options& options);
MixerPointer build_lstm(const MixerContext& context, const Options& options);
MixerPointer build_gru(const MixerContext& context, const Options& options);

}  // namespace mneme
