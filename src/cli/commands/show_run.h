// `mneme show RUN`, `show mixer NAME`, `show task NAME`.
#pragma once

#include <string>

#include "cli/command.h"

namespace mneme::cli {

int show_run(const std::string& prefix, const Context& context);
int show_mixer(const std::string& name, const Context& context);
int show_task(const std::string& name, const Context& context);

}  // namespace mneme::cli
