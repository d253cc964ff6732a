// What is known of a mixer without building it: its name, options and formulas. An entry says only what is its own.
//
// The front end lists, validates and plans with these entries; the worker builds the torch modules from
// the same ones (src/mixers/list.cpp), and a test holds the two to each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema.h"

namespace mneme::catalog {

// The place of a mixer in a model.
struct MixerContext {
  std::int64_t width = 0;   // D
  std::int64_t length = 0;  // L: the longest sequence it must handle in training
  std::int64_t layer = 0;   // 0-based
  std::int64_t layers = 1;
  std::int64_t earlier = 0;  // layers below this one with the same mixer
};

struct PythonClass;

struct MixerEntry {
  std::string name;
  std::string family;
  std::string summary;
  std::string citation;
  Schema options;

  // Trainable numbers.
  std::function<std::int64_t(const MixerContext&, const Options&)> parameters;
  // Floats per sequence that must be kept to continue after `length` tokens.
  std::function<std::int64_t(const MixerContext&, const Options&)> state;
  // Useful floating-point operations of one forward pass over one sequence of `length` tokens.
  std::function<double(const MixerContext&, const Options&)> flops;
  // False if permuting earlier tokens cannot change the output: such a mixer needs positions.
  std::function<bool(const Options&)> knows_order = [](const Options&) { return true; };
  // False only for options that look ahead.
  std::function<bool(const Options&)> causal = [](const Options&) { return true; };
  // Rejects options that do not fit each other or the context.
  std::function<void(const MixerContext&, const Options&)> validate = [](const MixerContext&, const Options&) {};
  // The part of flops that is saved for each position without a label; nullptr: none.
  std::function<double(const MixerContext&, const Options&)> output_flops = nullptr;
  // The class of a mixer from a user's Python file; null for the mixers of the catalog.
  std::shared_ptr<const PythonClass> python = nullptr;

  // The table of its options in [model]: its name; of a Python mixer the name of the class.
  const std::string& table() const;
};

// Mixers along the sequence, and mixers along the channels ("state mixers": mlp, glu, identity).
const std::vector<MixerEntry>& mixer_catalog();
const std::vector<MixerEntry>& state_mixer_catalog();

// Throw Error(usage) with the nearest known name. `FILE.py:Class` is found too (catalog/python_mixer.h).
const MixerEntry& find_mixer(std::string_view name, std::string_view origin = "model.mixer");
const MixerEntry& find_state_mixer(std::string_view name, std::string_view origin = "model.state_mixer");

}  // namespace mneme::catalog
