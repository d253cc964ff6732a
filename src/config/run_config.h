// A run's complete configuration: what was written, checked, with every default filled in.
//
//   task:  name and the task's options
//   model: mixer ("a" or "a+b", cycled over layers), width, layers, block, ..., and one table of options
//          per mixer, named after it
//   train: optimiser, schedule, budget, seeds
//   test:  what the trained model is tested on beyond its own test split (config/test_config.h)
//
// The canonical JSON of it is hashed into the run's id, so two runs with the same id are the same run,
// and resolving that JSON again gives the same JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catalog/mixer_entry.h"
#include "core/config.h"
#include "core/schema.h"
#include "tasks/task.h"

namespace mneme::config {

const Schema& model_schema();
const Schema& train_schema();
const Schema& test_schema();

struct MixerConfig {
  const catalog::MixerEntry* entry = nullptr;
  Options options;
  explicit operator bool() const { return entry != nullptr; }
};

struct RunConfig {
  const tasks::TaskEntry* task_entry = nullptr;
  Options task;
  Options model;
  std::vector<MixerConfig> mixers;  // layer i uses mixers[i % size]
  MixerConfig state_mixer;          // empty: none
  Options train;
  Options test;

  tasks::TaskShape shape;
  double chance = 0;
  bool needs_positions = true;
  std::string id;                     // first 12 hex digits of SHA-256 of the canonical JSON
  std::vector<std::string> warnings;  // combinations that are legal but cannot work

  // The complete configuration. Made when it is asked for: a grid has many runs, and few are ever written.
  Json json() const;

  const MixerConfig& mixer(std::int64_t layer) const;
  catalog::MixerContext context(std::int64_t layer) const;        // of the sequence mixer
  catalog::MixerContext state_context(std::int64_t layer) const;  // of the state mixer
  // True if the model turns what this layer's mixer reads: positions = "rope", and the mixer cannot do it itself.
  bool rotates_input(std::int64_t layer) const;
  std::int64_t parameters() const;
  std::int64_t state() const;  // floats per sequence at the task's length, all layers
  // Useful work of a forward pass, by mixer and "head", and in all: labelled positions where only they matter, half of
  // the causal square.
  std::map<std::string, double> forward_flops_by_part() const;
  double forward_flops_per_example() const;
  // Useful floating-point operations of the whole training budget, forward and backward.
  double training_flops() const;
};

// Throws Error(usage) for anything that is not a complete, consistent run.
RunConfig resolve_run(const ConfigValue& root);

// The same for many configurations in turn: task and model are resolved again only where they are not those of the
// configuration before.
class RunResolver {
 public:
  RunConfig resolve(const ConfigValue& root);

 private:
  bool known_ = false;
  ConfigValue task_, model_;  // as they were written
  RunConfig begun_;           // what came of them
  std::string begun_text_;    // how the canonical JSON begins
};

}  // namespace mneme::config
