#include "cli/study_input.h"

#include <CLI/CLI.hpp>

#include "cli/train_runs.h"
#include "report/pages/study_files.h"

namespace mneme::cli {

void JobsOption::add(CLI::App& app, const std::string& what) {
  option_ = app.add_option("--jobs", given_, what + " (default: one per processor)")->type_name("N");
}

int JobsOption::count() const { return checked_jobs(given_, option_->count() > 0); }

void add_scale_option(CLI::App& app, std::string& scale) {
  app.add_option("--scale", scale, "scale of the study (default: laptop if it has one; none: run the file as written)")
      ->type_name("NAME");
}

void StudyInput::add(CLI::App& app) {
  app.add_option("input", arguments, "a study (name or file), and overrides a.b=value")
      ->required()
      ->type_name("STUDY [a.b=value ...]");
  add_scale_option(app, scale);
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=-+/:,";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char byte : word) text += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return text + "'";
}

std::string StudyInput::words_for(const study::Study& study) const {
  std::string words = shell_word(name());
  if (!study.scale.empty()) words += " --scale " + study.scale;
  for (std::size_t i = 1; i < arguments.size(); ++i) words += " " + shell_word(arguments[i]);
  return words;
}

study::Study StudyInput::open() const {
  study::Study study = report::open_study(name(), {scale, {arguments.begin() + 1, arguments.end()}});
  tell_warnings(study.runs);
  return study;
}

}  // namespace mneme::cli
