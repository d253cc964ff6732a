// The runs that a command is about: first digits of ids, filters, the runs of a study.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "config/run_config.h"
#include "study/study.h"

namespace mneme::cli {

struct RunSelection {
  std::vector<std::string> arguments;  // first digits of ids, filters
  std::string study, scale;            // study: its name and overrides in one, as `mneme status` prints them

  // RUN ... | KEY=VALUE ..., --study STUDY, --scale NAME.
  void add(CLI::App& app, const std::string& without = "");
  bool empty() const { return arguments.empty() && study.empty(); }
  // Throws Error(usage) if nothing was selected.
  void require_some() const;
  // Throws Error(usage) or Error(data).
  study::Study open_study() const;
  // The runs of --study, also those that were never started.
  std::vector<config::RunConfig> planned() const;
  // Runs of the lab: those that ids name, and those that fit every filter and belong to the study, where given.
  std::vector<std::string> ids(store::Index& index) const;
};

}  // namespace mneme::cli
