// The command line: from arguments to an exit code.
#pragma once

namespace mneme::cli {

// Parses, carries out the command and reports errors on standard error, as one line or, with --json, as
// {"error": {"kind", "code", "message"}}. The exit codes are those of core/error.h.
int run_command_line(int argc, const char* const* argv);

}  // namespace mneme::cli
