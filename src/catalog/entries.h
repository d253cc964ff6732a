// The entry of every mixer, each defined in the mixer's own file; list.cpp is the list.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

MixerEntry attention_entry();
MixerEntry transformer_entry();
MixerEntry based_entry();
MixerEntry base_conv_entry();
MixerEntry linear_attention_entry();
MixerEntry retnet_entry();
MixerEntry gla_entry();
MixerEntry deltanet_entry();
MixerEntry gated_deltanet_entry();
MixerEntry deltaproduct_entry();
MixerEntry rwkv4_entry();
MixerEntry rwkv5_entry();
MixerEntry rwkv7_entry();
MixerEntry hyena_entry();
MixerEntry mamba_entry();
MixerEntry s6_entry();
MixerEntry mamba2_entry();
MixerEntry s4_entry();
MixerEntry s4d_entry();
MixerEntry ids4_entry();
MixerEntry h3_entry();
MixerEntry ema_entry();
MixerEntry rnn_entry();
MixerEntry lstm_entry();
MixerEntry gru_entry();
MixerEntry nru_entry();
MixerEntry mlp_entry();
MixerEntry glu_entry();
MixerEntry identity_entry();
MixerEntry rwkv4_channel_mix_entry();

}  // namespace mneme::catalog
