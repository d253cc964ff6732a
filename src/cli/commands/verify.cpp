#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  double tolerance = 1e-4;
};

void require_readable(const std::string& file) {
  if (std::filesystem::is_directory(file)) throw Error(ErrorKind::data, file, "is a directory, expected a golden case");
  if (::access(file.c_str(), R_OK) != 0)
    throw Error(ErrorKind::data, file, fmt::format("cannot open: {}", std::strerror(errno)));
}

void print_line(const Json& verified, std::size_t width) {
  const Terminal terminal = terminal_of(stdout);
  const bool ok = verified.value("ok", false);
  const std::string mark = paint(ok ? "ok  " : "FAIL", ok ? Color::green : Color::red, terminal);
  const std::string file = padded(verified.value("file", ""), width);
  if (!ok && !verified.value("message", "").empty())
    fmt::print("{} {}  {}\n", mark, file, harmless(verified.value("message", "")));
  else
    fmt::print(
        "{} {}  {}: worst error is {:.3g} of the tolerance, in {}\n", mark, file, harmless(verified.value("mixer", "")),
        verified["worst"].is_number() ? verified["worst"].get<double>() : 0.0, harmless(verified.value("tensor", "")));
  std::fflush(stdout);
}

int verify(const VerifyOptions& options, const Context& context) {
  if (!(options.tolerance > 0))
    throw Error(ErrorKind::usage, "--tolerance", fmt::format("got {}, expected a positive number", options.tolerance));
  std::size_t width = 0;
  for (const std::string& file : options.files) {
    require_readable(file);
    width = std::max(width, display_width(file));
  }
  Json cases = Json::array();
  std::size_t failed = 0;
  run::ask_worker(run::find_worker(),
                  {{"request", "verify"}, {"files", options.files}, {"tolerance", options.tolerance}}, "finished",
                  [&](const Json& event) {
                    if (event["event"] != "verified") return;
                    failed += event.value("ok", false) ? 0 : 1;
                    Json result = event;
                    result.erase("event");
                    if (!context.json) print_line(result, width);
                    cases.push_back(std::move(result));
                  });
  if (context.json)
    print_json({{"tolerance", options.tolerance}, {"files", cases.size()}, {"failed", failed}, {"cases", cases}});
  else
    fmt::print("{} of {} files agree (tolerance {:g})\n", cases.size() - failed, cases.size(), options.tolerance);
  return failed == 0 ? 0 : static_cast<int>(ErrorKind::mismatch);
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("files", options->files, "golden cases (safetensors files)")->required()->type_name("FILE ...");
  app.add_option("--tolerance", options->tolerance, "allowed error, relative to each tensor's largest value")
      ->capture_default_str();
  app.callback([options, &context] { context.action = [options, &context] { return verify(*options, context); }; });
  add_examples(app, "  mneme verify tests/golden/*.safetensors\n  mneme verify --tolerance 1e-5 my-case.safetensors");
}

}  // namespace mneme::cli
