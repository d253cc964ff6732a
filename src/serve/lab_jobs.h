// The nodes of a cluster that work for the lab, as they themselves tell in jobs/ (cluster/submission.h). Slurm is not
// asked: its commands are programs to be started, and a lab is looked at from machines that have none.
#pragma once

#include "core/json.h"
#include "store/lab.h"

namespace mneme::serve {

// What is at work, or has said something within the last hour; the newest first, at most ten:
// {"job", "study", "scale", "user", "submitted" (UTC), "cancelled", "runs": how many,
//  "nodes": [{"task", "node", "state", "note", "told": time of day, "workers": how many, "tokens_per_second",
//  "ended"}]}.
// A file that cannot be read is passed over: it may be written just now.
Json jobs_of(const store::Lab& lab);

}  // namespace mneme::serve
