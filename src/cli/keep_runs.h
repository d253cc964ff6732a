// Keeping the result of each run as it ends: --save.
#pragma once

#include <memory>

#include "core/files.h"
#include "run/local_executor.h"

namespace mneme::cli {

// Passes everything on to `next`, and adds each run that a worker has ended to the file of kept results. Trouble with
// the file is a note: the run itself is in the lab, and the command tries again at its end.
std::unique_ptr<run::ExecutionObserver> make_keeping_observer(std::unique_ptr<run::ExecutionObserver> next,
                                                              const store::Lab& lab, const Path& file);

}  // namespace mneme::cli
