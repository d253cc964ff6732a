// What a task of an array does on its node.
#pragma once

#include "cluster/submission.h"
#include "run/local_executor.h"

namespace mneme::cluster {

// Trains runs of the submission, as many at once as it says, until none is left that no one else trains, the job's time
// is nearly over, or Slurm says stop; asks Slurm to start the task again where that is right (requeue.h). Returns the
// exit code.
int work_on_node(const Submission& submission, const store::Lab& lab, double lease);

}  // namespace mneme::cluster
