#include "cli/help_format.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

constexpr std::size_t kNames = 26;  // columns of names

// CLI11's own names of types are those of its code.
std::string type_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  if (name.starts_with("TEXT:{")) return name.substr(6, name.size() - 7);  // local,slurm
  return name == "INT" || name == "UINT" ? "N" : name == "FLOAT" ? "X" : name;
}

// What a value of the type is, in words.
std::string expected_type(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  if (name.starts_with("TEXT:{")) return "one of " + type_of(option);
  return name == "INT" || name == "UINT" || name == "N" ? "a whole number" : name == "FLOAT" ? "a number" : name;
}

std::string bracketed(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  if (option.get_required()) return name.find(" | ") == name.npos ? name : fmt::format("({})", name);
  return name.starts_with("[") ? name : fmt::format("[{}]", name);
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { label("Positionals", "Arguments"); }

  std::string make_option_usage(const CLI::Option* option) const override { return bracketed(*option); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_type_name() : option->get_name(false, true);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    const bool takes_value = !is_positional && option->get_type_size() != 0;
    if (takes_value && !option->get_type_name().empty()) name += " " + type_of(*option);
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += fmt::format(" (default: {})", option->get_default_str());
    return entry(name, text);
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    return entry(sub->get_display_name(true), sub->get_description());
  }

  std::string make_description(const CLI::App* app) const override {
    return fit_to(app->get_description(), width(), 0) + "\n";
  }

 private:
  static std::size_t width() {
    const Terminal terminal = terminal_of(stdout);
    return static_cast<std::size_t>(std::clamp(terminal.is_terminal ? terminal.columns : 100, 40, 100));
  }

  static std::string entry(const std::string& name, const std::string& text) {
    const std::string left = "  " + name;
    const std::string space(kNames, ' ');
    const std::string right = fit_to(text, width(), kNames);
    return left.size() < kNames ? padded(left, kNames) + right + "\n" : left + "\n" + space + right + "\n";
  }
};

const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  // Options without a group are hidden: old names, which new users should not learn.
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The first argument that has too few or too many values, as its help calls it.
std::string expectation(const CLI::App& command, std::string_view message) {
  for (const CLI::Option* option : command.get_options()) {
    const auto count = static_cast<int>(option->count());
    if (option->get_positional() && option->get_required() && count < option->get_expected_min())
      return fmt::format("got {}, expected {}",
                         count == 0 ? "nothing" : fmt::format("'{}'", join(option->results(), " ")),
                         option->get_type_name());
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string dashed = "--" + name;
      if (message.find(dashed + ":") == message.npos && message.find(dashed + " ") == message.npos) continue;
      if (option->get_type_size() == 0) return fmt::format("{}: takes no value", dashed);
      if (option->count() > 1 && option->get_expected_max() == 1)
        return fmt::format("{}: given {} times, expected once", dashed, option->count());
      return fmt::format("{}: got {}, expected {}", dashed,
                         option->count() == 0 || option->results().back().empty()
                             ? "nothing"
                             : fmt::format("'{}'", option->results().back()),
                         expected_type(*option));
    }
  }
  return "";
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormat>(); }

std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  const std::string where = command.get_parent() ? fmt::format("[{}] ", command.get_name()) : "";
  const std::vector<std::string> extras = app.remaining(true);
  // CLI11 knows that an argument is too much; we know what was probably meant.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !extras.empty()) {
    const std::string& extra = extras.front();
    if (!extra.starts_with("-")) return fmt::format("{}unexpected argument '{}'; see --help", where, extra);
    return fmt::format("{}unknown option {}{}", where, extra,
                       suggestion(split(extra, '=').front(), option_names(command)));
  }
  const std::string expected = expectation(command, error.what());
  return where + (expected.empty() ? std::string(error.what()) : expected + "; see --help");
}

}  // namespace mneme::cli
