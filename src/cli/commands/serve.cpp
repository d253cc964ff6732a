#include "cli/terminal/terminal.h"
#include "serve/server.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "core/subprocess.h"
#include "serve/export_site.h"
#include "serve/guard.h"

namespace mneme::cli {
namespace {

struct ServeOptions {
  std::int64_t port = 8470;
  std::string host = "127.0.0.1";
  std::string results;
  std::string directory;  // of --export
  bool open = false;
};

// The system's way to open an address; its messages are not shown.
void open_browser(const std::string& address) {
  if (!program_exists("xdg-open")) return print_note("--open: there is no xdg-open here; open the address yourself");
  posix_spawn_file_actions_t quiet{};
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", stream == STDIN_FILENO ? 0 : 1, 0);
  std::string program = "xdg-open", argument = address;
  char* argv[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, "xdg-open", &quiet, nullptr, argv, environ) != 0)
    print_note("--open: cannot start xdg-open; open the address yourself");
  posix_spawn_file_actions_destroy(&quiet);
}

// Given, or ./results where it is: a clone of the repository has the kept results there.
Path results_of(const ServeOptions& options) {
  if (!options.results.empty()) {
    if (!std::filesystem::is_directory(options.results))
      throw Error(ErrorKind::usage, "--results",
                  fmt::format("'{}' is not a directory, expected one with kept results", options.results));
    return options.results;
  }
  std::error_code none;
  return std::filesystem::is_directory("results", none) ? Path("results") : Path();
}

int serve_lab(const ServeOptions& options, const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  const Path results = results_of(options);
  if (!options.directory.empty()) {
    const std::size_t files = serve::export_site(lab, results, options.directory);
    if (context.json)
      print_json({{"directory", options.directory}, {"files", files}});
    else
      fmt::print("{} written to {}; put them on a web server, or try: python3 -m http.server -d {}\n",
                 counted(files, "file"), options.directory, options.directory);
    return 0;
  }
  if (options.port < 0 || options.port > 65535)
    throw Error(ErrorKind::usage, "--port", fmt::format("got {}, expected 0 (any free one) to 65535", options.port));
  const bool loopback = serve::is_loopback(options.host);
  // The whole path, so that pages of several labs can be told apart.
  const store::Lab here(std::filesystem::absolute(lab.root()).lexically_normal());
  serve::Server server(here, {.address = options.host,
                              .port = static_cast<unsigned short>(options.port),
                              .token = loopback ? "" : serve::make_token(),
                              .results = results});
  if (!loopback)
    print_warning(
        fmt::format("others on the network can reach this server: anyone who has the address with its token can read "
                    "the lab (docs/serve.md)"));
  if (context.json)
    print_json({{"address", server.url()}, {"port", server.port()}, {"lab", here.root().string()}});
  else
    fmt::print("{} is at {}\nPress Ctrl-C to stop the server.\n", here.root().string(), server.url());
  std::fflush(stdout);
  if (options.open) open_browser(server.url());
  server.run();
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--port", options->port, "port to listen on; 0: any free one")->capture_default_str()->type_name("N");
  app.add_option("--host", options->host,
                 "numeric address to listen on; if other machines can reach it, a token is required and printed")
      ->capture_default_str()
      ->type_name("ADDRESS");
  app.add_flag("--open", options->open, "open the dashboard in a browser");
  app.add_option("--export", options->directory, "write the same pages as static files into this directory, and exit")
      ->type_name("DIR");
  app.add_option("--results", options->results,
                 "saved results of the papers, for runs missing from this lab (default: ./results if it exists)")
      ->type_name("DIR");
  app.callback([options, &context] { context.action = [options, &context] { return serve_lab(*options, context); }; });
  add_examples(app,
               "  mneme serve --open\n  mneme serve --lab /data/lab --port 0\n  mneme serve --host 0.0.0.0\n"
               "  mneme serve --export site");
}

}  // namespace mneme::cli
