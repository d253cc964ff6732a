// When a task of an array asks Slurm to be started again.
#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"

namespace mneme::cluster {

// What task-K.json remembers from one start of the task to the next.
struct TaskHistory {
  std::int64_t starts = 0;  // including this one
  std::int64_t barren = 0;  // starts in a row in which nothing was trained
  std::int64_t broken = 0;  // nodes in a row on which nothing could be started

  Json json() const;
  static TaskHistory from(const Json& json);
};

// How this start of the task went.
struct TaskEnd {
  bool ran_out = false;     // of time: the warning came, or what is left did not fit
  bool missing = false;     // runs are left
  bool progressed = false;  // a run ended, or was trained further
  bool broken = false;      // nothing could be started on this node
  bool cancelled = false;
  bool ours = true;         // runs as a Slurm job, which can be requeued
  bool superseded = false;  // a later start of the same task has its place: this process was taken for dead
};

struct Requeue {
  bool wanted = false;
  bool elsewhere = false;  // on another node
  std::string reason;      // for the log and `mneme status`
};

inline constexpr std::int64_t kMostBarren = 2, kMostBroken = 3;

// Updates the history. A task is requeued only while its starts get work done, and at most `most` times: neither a node
// that is broken nor a run that never reaches a checkpoint can keep it going forever.
Requeue decide_requeue(TaskHistory& history, const TaskEnd& end, std::int64_t most);

}  // namespace mneme::cluster
