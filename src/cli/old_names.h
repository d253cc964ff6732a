// Names of version 0.1 that keep working for one release, each with a note that gives the new one.
#pragma once

#include <string>
#include <vector>

#include "store/lab.h"

namespace CLI {
class App;
}

namespace mneme::cli {

struct Context;

// --claims for --leases; not in --help.
void add_old_options(CLI::App& app, Context& context);

// MNEME_CLAIMS for MNEME_LEASES, and the files of a lab. `leases_option` is what the command line gave.
std::vector<std::string> notes_on_old_names(const store::Lab& lab, const std::string& leases_option);

}  // namespace mneme::cli
