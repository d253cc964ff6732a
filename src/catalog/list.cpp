#include <fmt/format.h>

#include "catalog/entries.h"
#include "catalog/python_mixer.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::catalog {
namespace {

const MixerEntry& find(const std::vector<MixerEntry>& list, std::string_view kind, std::string_view name,
                       std::string_view origin) {
  std::vector<std::string> known;
  for (const MixerEntry& entry : list) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw Error(ErrorKind::usage, origin, fmt::format("unknown {} '{}'{}", kind, name, suggestion(name, known)));
}

}  // namespace

const std::vector<MixerEntry>& mixer_catalog() {
  static const std::vector<MixerEntry> list = {
      attention_entry(),
      transformer_entry(),
      based_entry(),
      base_conv_entry(),
      linear_attention_entry(),
      retnet_entry(),
      gla_entry(),
      deltanet_entry(),
      gated_deltanet_entry(),
      deltaproduct_entry(),
      rwkv4_entry(),
      rwkv5_entry(),
      rwkv7_entry(),
      hyena_entry(),
      mamba_entry(),
      s6_entry(),
      mamba2_entry(),
      s4_entry(),
      s4d_entry(),
      ids4_entry(),
      h3_entry(),
      ema_entry(),
      rnn_entry(),
      lstm_entry(),
      gru_entry(),
      nru_entry(),
  };
  return list;
}

const std::vector<MixerEntry>& state_mixer_catalog() {
  static const std::vector<MixerEntry> list = {
      mlp_entry(),
      glu_entry(),
      identity_entry(),
      rwkv4_channel_mix_entry(),
  };
  return list;
}

const MixerEntry& find_mixer(std::string_view name, std::string_view origin) {
  if (is_python_name(name)) return find_python_mixer(name, nullptr, origin);
  if (name.find(':') != name.npos)
    throw Error(ErrorKind::usage, origin,
                fmt::format("got '{}', expected a mixer of the catalog (mneme list mixers) or FILE.py:Class", name));
  return find(mixer_catalog(), "mixer", name, origin);
}

const MixerEntry& find_state_mixer(std::string_view name, std::string_view origin) {
  return find(state_mixer_catalog(), "state mixer", name, origin);
}

}  // namespace mneme::catalog
