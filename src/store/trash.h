// Runs that a user has removed: kept in the lab's trash/ until someone deletes them there.
#pragma once

#include <string_view>

#include "store/lab.h"
#include "store/leases.h"

namespace mneme::store {

// Moves the run's directory to trash/ID.TIME and returns where that is. Throws Error(io) if a worker has the run, or
// the disk refuses. The run counts as new for the next command that wants it.
Path move_to_trash(const Lab& lab, std::string_view id, Leases& leases);

}  // namespace mneme::store
