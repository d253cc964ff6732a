// What the index knows of a run: a flat copy of what its directory says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/run_directory.h"
#include "store/run_notes.h"

namespace mneme::store {

// One evaluation.
struct MetricRow {
  std::int64_t step = 0;
  std::string split;
  double seconds = 0;
  std::string values;  // JSON text: name -> number
};

struct RunRecord {
  std::string id;
  RunState state = RunState::fresh;
  std::string reason;  // of a run that has ended: "budget", "threshold", or why it failed
  std::string task;
  std::string mixer;
  std::int64_t width = 0;
  std::int64_t layers = 0;
  double lr = 0;
  std::int64_t seed = 0;
  // Fractions; absent if there was no (finite) evaluation. Of a run that has not ended: the latest.
  std::optional<double> validation_accuracy;
  std::optional<double> test_accuracy;
  std::int64_t steps = 0;  // that were trained
  double seconds = 0;
  std::int64_t changed = 0;  // when its files last changed, nanoseconds since 1970
  std::string config;        // JSON text, as in config.json
  std::string summary;       // JSON text, or "" if the run has not ended
  RunNotes notes;            // of people

  std::vector<MetricRow> metrics;  // by step; filled by read_record, not by queries

  bool ended() const { return state == RunState::done || state == RunState::diverged; }
};

RunState parse_run_state(std::string_view name);  // throws Error(data)

// Reads a run directory. Throws Error(data) if a file is missing or damaged, or if the configuration is
// not the one that the directory's name is the hash of.
RunRecord read_record(const RunDirectory& directory);

// When the run's files last changed, without reading them; 0 if there are none.
std::int64_t last_change(const RunDirectory& directory);

}  // namespace mneme::store
