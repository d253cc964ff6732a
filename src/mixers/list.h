// The builder of every mixer, each defined in the mixer's own file; list.cpp joins them to the catalog.
#pragma once

#include "mixers/mixer.h"

namespace mneme::mixers {

using Build = MixerPointer(const catalog::MixerContext& context, const Options& options);

Build build_attention;
Build build_transformer;
Build build_based;
Build build_base_conv;
Build build_linear_attention;
Build build_retnet;
Build build_gla;
Build build_deltanet;
Build build_gated_deltanet;
Build build_deltaproduct;
Build build_rwkv4;
Build build_rwkv5;
Build build_rwkv7;
Build build_hyena;
Build build_mamba;
Build build_mamba2;
Build build_s4;
Build build_s4d;
Build build_ids4;
Build build_h3;
Build build_ema;
Build build_rnn;
Build build_lstm;
Build build_gru;
Build build_nru;
Build build_mlp;
Build build_glu;
Build build_identity;
Build build_rwkv4_channel_mix;

}  // namespace mneme::mixers
