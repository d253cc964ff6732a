// A lab: the directory that holds runs, their index and reports (docs/run-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "store/run_directory.h"

namespace mneme {

class Lab {
 public:
  explicit Lab(Path root) : root_(std::move(root)) {}

  const Path& root() const { return root_; }
  Path runs() const { return root_ / "runs"; }
  Path index() const { return root_ / "index.db"; }
  Path claims() const { return root_ / "claims.db"; }
  Path studies() const { return root_ / "studies"; }
  Path reports() const { return root_ / "reports"; }
  RunDirectory run(std::string_view id) const { return RunDirectory(runs() / id); }

  // Makes the directories that are missing; throws Error(io) if one of them is a file.
  void create() const;
  // Throws Error(data) that says how a lab is made, unless there is one here.
  void require() const;

 private:
  Path root_;
};

// The lab that a command works in: what was given, else MNEME_LAB, else ./lab.
Lab choose_lab(std::string_view given);

}  // namespace mneme
