// Standard output and error whose readers may leave (`mneme train ... | head -1`).
#pragma once

namespace mneme::cli {

// From here on, writing to standard output or standard error after its reader has closed the pipe succeeds and goes
// nowhere: a command loses its words, never its work. Other errors, such as a full disk, are reported as before.
// Once, at the start of the program; `stdout` and `stderr` are other streams afterwards, on the same descriptors.
void outlive_readers();

}  // namespace mneme::cli
