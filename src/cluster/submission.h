// What was submitted to Slurm: a directory jobs/NAME of the lab with the runs, the script, and what each task says of
// itself.
//
//   submission.json   study, settings, job id
//   runs.json         complete configurations, so that a node needs no study file
//   script.sh         what sbatch got
//   task-K.json       what task K does now or did last; task-K.log is its output
//   cancelled         there once the jobs were cancelled: no task requeues itself any more
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/slurm_settings.h"
#include "config/run_config.h"
#include "core/json.h"
#include "store/lab.h"

namespace mneme::cluster {

struct Submission {
  Path directory;
  std::string job;                         // Slurm's id; "" until it was submitted
  std::string study, title, scale, place;  // place: Study::file_name()
  std::vector<std::string> overrides;      // a.b=value: a study with overrides is one of its own
  std::string called;                      // the arguments that name the study again, quoted for a shell
  std::string user, submitted;             // submitted: UTC
  SlurmSettings settings;
  std::vector<std::string> runs;  // ids

  Path script() const { return directory / "script.sh"; }
  Path task_file(int task) const { return directory / ("task-" + std::to_string(task) + ".json"); }
  bool cancelled() const;
  void mark_cancelled() const;
  // The job's name in Slurm.
  std::string job_name() const;

  void store() const;  // submission.json
};

// A new directory with runs.json and submission.json.
Submission create_submission(const store::Lab& lab, Submission submission, std::span<const config::RunConfig> runs);
// Throws Error(data).
Submission read_submission(const Path& directory);
std::vector<config::RunConfig> read_runs(const Submission& submission);
// Of the lab, the newest first; what cannot be read is passed over.
std::vector<Submission> submissions(const store::Lab& lab);

// The text that sbatch gets. `mneme` is the program's path.
std::string job_script(const Submission& submission, const store::Lab& lab, const Path& mneme, std::int64_t memory);

}  // namespace mneme::cluster
