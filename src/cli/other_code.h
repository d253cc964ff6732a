// Runs that other code made: a command says so before it uses them.
#pragma once

#include <span>
#include <string>

#include "config/run_config.h"
#include "store/lab.h"

namespace CLI {
class App;
}

namespace mneme::cli {

// What to do about runs that were not made by the code of this program (docs/run-directory.md, "Which code made a
// run"). Without --same-code they are used, and a warning counts them.
struct CodeChoice {
  bool same_code = false;
  bool yes = false;

  void add(CLI::App& app);
};

// Says how many of the runs other code made. With --same-code, asks and moves them to the lab's trash, so that
// they are trained again; throws Error(usage) if the answer is no.
void reckon_with_other_code(std::span<const std::string> ids, const store::Lab& lab, const CodeChoice& choice);

}  // namespace mneme::cli
