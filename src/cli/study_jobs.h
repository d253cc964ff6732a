// The Slurm jobs of a lab's studies: what they do, watching them, ending them.
#pragma once

#include <string>
#include <vector>

#include "cluster/slurm.h"
#include "cluster/submission.h"
#include "core/json.h"
#include "run/local_executor.h"
#include "study/study.h"

namespace mneme::cli {

// Submissions that still have jobs in Slurm's queue. Empty where there is no Slurm.
std::vector<cluster::Submission> live_submissions(const store::Lab& lab);

// For `mneme status`: one entry per submission that is in the queue, or whose runs are missing although it is not:
// {"job", "study", "overrides", "scale", "submitted", "user", "ended", "missing", "seconds_left", "jobs": [{id, state,
// node, reason, elapsed, left}], "tasks": [task-K.json ...]}.
Json jobs_json(const store::Lab& lab);
void print_jobs(const Json& jobs);

// Tells on standard error how it goes, until no job is left in the queue. False if Ctrl-C came first.
bool watch_jobs(const cluster::Submission& submission, const study::Study& study, const store::Lab& lab, bool quiet);

// What the run directories say of the study.
run::ExecutionResult results_in(const study::Study& study, const store::Lab& lab);

// Ends the jobs that train runs of this study and no others, or those of all scales and variants of its name: jobs that
// wait are gone, those that run get the time to write checkpoints. Returns a line for each.
std::vector<std::string> cancel_jobs(const store::Lab& lab, const study::Study& study, bool all_variants);

}  // namespace mneme::cli
