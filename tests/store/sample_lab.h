// A lab with runs in it, made without training.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "store/lab.h"
#include "store/run_writer.h"
#include "support/temporary_directory.h"

namespace mneme::testing {

inline config::RunConfig sample_run(const std::vector<std::string>& overrides = {}) {
  ConfigValue root{ConfigTable{}, "test"};
  for (const char* tiny : {"task.length=8", "task.pairs=1", "task.vocab=16", "model.width=8", "model.layers=1",
                           "train.steps=5", "train.batch=4", "train.eval_examples=8", "train.test_examples=8"})
    apply_override(root, tiny);
  for (const std::string& assignment : overrides) apply_override(root, assignment);
  return config::resolve_run(root);
}

inline Json sample_summary(const config::RunConfig& run, const std::string& outcome, double validation, double test) {
  Json values = {{"step", 5}, {"validation", {{"loss", 0.5}, {"accuracy", validation}}}};
  if (outcome == "done") values["test"] = {{"loss", 0.5}, {"accuracy", test}};
  return {{"id", run.id},
          {"outcome", outcome},
          {"reason", "budget"},
          {"values", values},
          {"times", {{"seconds", 1.5}, {"tokens_per_second", 100.0}}}};
}

// As a worker on its own would.
inline void put_summary(const store::RunDirectory& directory, const config::RunConfig& run, const Json& summary) {
  store::RunWriter::begin(directory, run.json(), 0, "test").write_summary(summary);
}

class SampleLab {
 public:
  SampleLab() : lab(directory / "lab") { lab.create(); }

  // Returns the run's id.
  std::string add_done(const std::vector<std::string>& overrides = {}, double validation = 0.75,
                       double test = 0.5) const {
    const config::RunConfig run = sample_run(overrides);
    lab.run(run.id).create(run.json());
    write_file_atomically(lab.run(run.id).path() / "summary.json",
                          sample_summary(run, "done", validation, test).dump());
    return run.id;
  }

  TemporaryDirectory directory;
  store::Lab lab;
};

}  // namespace mneme::testing
