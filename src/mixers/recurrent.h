// The classic recurrent cells (docs/mixers/rnn.md, lstm.md, gru.md).
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

MixerPointer build_rnn(const catalog::MixerContext& context, const Options& options);
MixerPointer build_lstm(const catalog::MixerContext& context, const Options& options);
MixerPointer build_gru(const catalog::MixerContext& context, const Options& options);

}  // namespace mneme::mixers
