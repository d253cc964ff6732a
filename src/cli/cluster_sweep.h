// A sweep by Slurm: what `mneme sweep --executor slurm` does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/other_code.h"
#include "cli/study_input.h"
#include "cluster/submission.h"
#include "run/local_executor.h"
#include "study/study.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mneme::cli {

struct ClusterOptions {
  std::string executor = "local";
  cluster::SlurmSettings given;
  std::vector<std::string> sbatch;
  bool dry_run = false, detach = false, again = false;

  void add(CLI::App& app);
  bool slurm() const { return executor == "slurm"; }
  // Throws Error(usage) if options of Slurm were given without it.
  void check() const;
  // The profile's settings with what was given laid over them.
  cluster::SlurmSettings settings(const store::Lab& lab) const;

 private:
  std::vector<const CLI::Option*> options_;
  bool was_given(const char* name) const;
};

// `input` is how the user named the study. Submits the study's runs, or finds the jobs that are already at it, and
// waits for their end unless --detach says otherwise. `finished` is filled with what became of the runs if it waited.
// Returns an exit code to leave with, or nothing if it waited to the end.
std::optional<int> sweep_by_slurm(const study::Study& study, const ClusterOptions& options, const CodeChoice& code,
                                  const StudyInput& input, const Context& context, run::ExecutionResult& finished);

}  // namespace mneme::cli
