// Carrying out runs for a command: lab, index, progress and what to tell at the end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/run_label.h"
#include "study/local_executor.h"

namespace mneme {

// Throws Error(usage) unless 1 <= jobs <= 1024; 0 means one per processor (the default of --jobs).
int checked_jobs(std::int64_t given, bool was_given);

// A study or run file and a.b=value assignments, told apart by the '='.
struct FileAndOverrides {
  std::string file;  // "" if there was none
  std::vector<std::string> overrides;
};
// Throws Error(usage) if there are two files.
FileAndOverrides sort_arguments(const std::vector<std::string>& arguments);

// Warnings that are the same for many runs are told once.
void tell_warnings(std::span<const RunConfig> runs);

ExecutionResult train_runs(std::span<const RunConfig> runs, const Context& context, int jobs, RunLabels labels);

// 130 if it was stopped, 4 if the disk is full, the failure's own code if one run of one failed, 5 if some of
// several failed, else 0.
int exit_code_of(const ExecutionResult& result);

Json result_json(const RunConfig& run, const RunResult& result, const Lab& lab);

}  // namespace mneme
