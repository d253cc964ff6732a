// What commands that take a study share: the study with assignments, --scale, and --jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/study.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mneme::cli {

// --jobs N. Throws Error(usage) unless 1 <= N <= 1024; one per processor if it was not given.
class JobsOption {
 public:
  void add(CLI::App& app, const std::string& what = "number of workers");
  int count() const;

 private:
  std::int64_t given_ = 0;
  const CLI::Option* option_ = nullptr;
};

// A word as a shell reads it: in quotes if it needs them.
std::string shell_word(const std::string& word);

// The help of --scale, wherever it means a study's scale.
void add_scale_option(CLI::App& app, std::string& scale);

// STUDY [a.b=value ...] [--scale NAME].
struct StudyInput {
  std::vector<std::string> arguments;
  std::string scale;

  void add(CLI::App& app);
  const std::string& name() const { return arguments.front(); }
  // The arguments that name this study again, for `mneme sweep` or `mneme report`; quoted for a shell.
  std::string words_for(const study::Study& study) const;
  // The study that was named; prints its warnings. Throws Error(usage) or Error(data).
  study::Study open() const;
};

}  // namespace mneme::cli
