#include "cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "catalog/python_mixer.h"
#include "cli/command.h"
#include "cli/help_format.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/code_identity.h"
#include "core/error.h"
#include "core/shortage.h"
#include "core/text.h"
#include "run/python_mixers.h"

namespace mneme::cli {
namespace {

constexpr const char* kFirstSteps = R"(Mneme {}: a laboratory for memory in sequence models.

Try first:
  mneme demo                                      run a small study, from training to a figure
  mneme train model.mixer=attention train.lr=1e-3 train one model
  mneme list                                      list mixers, tasks and studies

All commands: mneme --help. One command: mneme COMMAND --help.
)";

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal: return "internal";
    case ErrorKind::usage: return "usage";
    case ErrorKind::data: return "data";
    case ErrorKind::io: return "io";
    case ErrorKind::runs_failed: return "runs_failed";
    case ErrorKind::mismatch: return "mismatch";
    case ErrorKind::interrupted: return "interrupted";
  }
  return "internal";
}

void print_error(const std::string& message) {
  constexpr std::string_view kHead = "mneme: error:";
  const std::string text = fit_message(fmt::format("{} {}", kHead, harmless(message)));
  fmt::print(stderr, "{}{}\n", paint(kHead, Color::red, terminal_of(stderr)), text.substr(kHead.size()));
}

int report_error(ErrorKind kind, std::string_view text, bool json) {
  const int code = static_cast<int>(kind);
  // An address given in the wrong place is quoted in the error about it.
  const std::string message = without_passwords(text);
  if (json)
    fmt::print(stderr, "{}\n",
               Json{{"error", {{"kind", kind_name(kind)}, {"code", code}, {"message", message}}}}.dump(
                   -1, ' ', false, Json::error_handler_t::replace));
  else
    print_error(message);
  return code;
}

void check_command_name(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const Command& command : command_list()) names.push_back(command.name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--lab" || argument == "--leases" || argument == "--claims") ++i;
    if (argument.starts_with("-")) continue;
    if (std::find(names.begin(), names.end(), argument) == names.end())
      throw Error(ErrorKind::usage, "", fmt::format("unknown command '{}'{}", argument, suggestion(argument, names)));
    return;
  }
}

int parse_and_run(const std::vector<std::string>& arguments, Context& context) {
  CLI::App app{"Mneme: a laboratory for memory in sequence models", "mneme"};
  app.set_version_flag("--version", "mneme " + describe(this_code()));
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(0, 1);
  app.formatter(help_format());
  app.footer("Run `mneme COMMAND --help` for its options and examples. Exit codes: docs/exit-codes.md");
  add_common_options(app, context);
  for (const Command& command : command_list()) {
    CLI::App& sub = *app.add_subcommand(command.name, command.summary);
    sub.set_help_flag("-h,--help", "print this help");
    command.add(sub, context);
    add_common_options(sub, context);
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, "", explain_parse_error(app, error));
  }
  if (!context.action) {
    fmt::print(fmt::runtime(kFirstSteps), this_code().version);
    return 0;
  }
  return context.action();
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  catalog::use_python_mixers(std::make_shared<run::AskedMixers>());
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // `mneme help sweep` is `mneme sweep --help`.
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  // Errors of parsing are JSON too, so this must be known before parsing.
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  try {
    check_command_name(arguments);
    Context context;
    const int code = parse_and_run(arguments, context);
    if (std::fflush(stdout) != 0)
      throw Error(ErrorKind::io, "standard output", fmt::format("cannot write: {}", std::strerror(errno)));
    return code;
  } catch (const Error& error) {
    return report_error(error.kind(), error.what(), json);
  } catch (const std::filesystem::filesystem_error& error) {
    return report_error(ErrorKind::io, fmt::format("[{}] {}", error.path1().string(), error.code().message()), json);
  } catch (const std::system_error& error) {
    return report_error(ErrorKind::io, error.what(), json);
  } catch (const std::bad_alloc&) {
    return report_error(ErrorKind::io, std::string(kOutOfMemory), json);
  } catch (const std::exception& error) {
    return report_error(ErrorKind::internal, fmt::format("internal error: {}", error.what()), json);
  }
}

}  // namespace mneme::cli
