// Carrying out runs for a command: lab, index, progress and the summary at the end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/other_code.h"
#include "report/pages/run_label.h"
#include "run/local_executor.h"

namespace mneme::cli {

// Throws Error(usage) unless 1 <= jobs <= 1024; 0 means one per processor (the default of --jobs).
int checked_jobs(std::int64_t given, bool was_given);

// A study or run file and a.b=value overrides, distinguished by the '='.
struct FileAndOverrides {
  std::string file;  // "" if there was none
  std::vector<std::string> overrides;
};
// Throws Error(usage) if there are two files.
FileAndOverrides sort_arguments(const std::vector<std::string>& arguments);

// A warning that many runs share is printed once.
void tell_warnings(std::span<const config::RunConfig> runs);

// What --max-runs, --max-time and --save say; and how long a worker may be silent (MNEME_LEASE seconds, else the
// default).
struct TrainLimits {
  std::int64_t max_runs = 0;  // 0: all
  std::string max_time;       // "90s", "10m", "2h"; "": no limit
  // File to add each result to as its run ends (cli/keep_runs.h); "": none. A run whose result some file of its
  // directory has is not trained but copied from there, unless --same-code wants results of this program only.
  Path keep = {};
  CodeChoice code = {};
};
// Throws Error(usage) before anything is begun.
void check_limits(const TrainLimits& limits);
// "90", "90s", "10m", "1.5h" in seconds. Throws Error(usage).
double parse_duration(std::string_view text, std::string_view where);

// A run that fails is tried kAttempts times.
inline constexpr int kAttempts = 3;
run::ExecutionResult train_runs(std::span<const config::RunConfig> runs, const Context& context, int jobs,
                                report::RunLabels labels, const TrainLimits& limits = {});

// 130 if it was stopped, 4 if the disk is full, the failure's own code if one run of one failed, 5 if some of
// several failed, else 0.
int exit_code_of(const run::ExecutionResult& result);

Json result_json(const config::RunConfig& run, const run::RunResult& result, const store::Lab& lab);

}  // namespace mneme::cli
