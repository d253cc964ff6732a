// The peak memory of the process; the count can be reset.
#pragma once

namespace mneme::worker {

// What the process holds but does not use is given back, and its peak is counted from here.
void forget_peak();
double peak_bytes();  // the most that the process held since then
double held_bytes();  // now

}  // namespace mneme::worker
