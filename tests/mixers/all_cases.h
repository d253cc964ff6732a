// Every mixer and state mixer at its defaults, and with the options that change its structure.
#pragma once

#include "catalog/mixer_entry.h"
#include "mixers/attention_cases.h"
#include "mixers/delta_cases.h"
#include "mixers/linear_cases.h"
#include "mixers/recurrent_cases.h"

namespace mneme::testing {

inline std::vector<MixerCase> all_mixer_cases() {
  std::vector<MixerCase> list;
  for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
    for (const catalog::MixerEntry& entry : *catalog) list.push_back({entry.name, Json::object()});
  for (const auto& family :
       {attention_cases(), state_mixer_cases(), delta_cases(), linear_cases(), recurrent_cases(), state_space_cases()})
    list.insert(list.end(), family.begin(), family.end());
  return list;
}

// For the name of a test: letters, digits and underscores.
inline std::string case_name(const MixerCase& mixer) {
  std::string name = mixer.name;
  for (const auto& [key, value] : mixer.options.items()) name += "_" + key + value.dump();
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
  return name;
}

}  // namespace mneme::testing
