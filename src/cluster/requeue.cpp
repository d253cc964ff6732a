#include "cluster/requeue.h"

#include <fmt/format.h>

namespace mneme::cluster {

Json TaskHistory::json() const { return {{"starts", starts}, {"barren", barren}, {"broken", broken}}; }

TaskHistory TaskHistory::from(const Json& json) {
  return {json.value("starts", std::int64_t{0}), json.value("barren", std::int64_t{0}),
          json.value("broken", std::int64_t{0})};
}

Requeue decide_requeue(TaskHistory& history, const TaskEnd& end, std::int64_t most) {
  history.barren = end.progressed ? 0 : history.barren + 1;
  history.broken = end.broken ? history.broken + 1 : 0;
  // A requeue would take the later start off its node.
  if (end.superseded) return {false, false, "a later start of this task has replaced it"};
  if (end.cancelled) return {false, false, "its jobs were cancelled"};
  if (!end.missing) return {false, false, "nothing is left to do"};
  if (!end.ours) return {false, false, "not started by Slurm"};
  if (end.broken) {
    if (history.broken >= kMostBroken)
      return {false, false, fmt::format("nothing could be started on {} nodes in a row", history.broken)};
    if (history.starts > most) return {false, false, fmt::format("it was requeued {} times", most)};
    return {true, true, "nothing could be started on this node"};
  }
  if (!end.ran_out) return {false, false, "Slurm ended it, or other workers are training what is left"};
  if (history.barren >= kMostBarren)
    return {false, false, fmt::format("{} starts in a row trained nothing", history.barren)};
  if (history.starts > most) return {false, false, fmt::format("it was requeued {} times", most)};
  return {true, false, "its time ran out"};
}

}  // namespace mneme::cluster
