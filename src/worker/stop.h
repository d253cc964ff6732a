// SIGTERM and SIGINT as a wish that the training loop asks for.
#pragma once

namespace mneme {

// The first signal sets the wish; the second ends the process at once.
void install_stop_signals();
bool stop_requested();

}  // namespace mneme
