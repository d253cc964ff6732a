#include "report/figures/render.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/subprocess.h"
#include "report/pages/assets.h"

namespace mneme::report {
namespace {

// A directory that only this user can read, gone with the object.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mneme-render-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::io, name, fmt::format("cannot make a temporary directory: {}", std::strerror(errno)));
    path_ = name;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  const Path& path() const { return path_; }

 private:
  Path path_;
};

// What the program wrote, or nothing and a message that says what to do about it.
std::optional<std::string> output_of(const std::vector<std::string>& argv, std::string_view input,
                                     std::string_view package, const Path& target, Rendering& rendering) {
  if (!program_exists(argv.front())) {
    rendering.messages.push_back(
        fmt::format("{} was not rendered: {} is not installed (Debian package {}); the HTML report needs neither",
                    target.string(), argv.front(), package));
    return std::nullopt;
  }
  try {
    ProcessResult result = run_process(argv, input);
    if (result.exit_code == 0 && !result.out.empty()) return std::move(result.out);
    while (!result.err.empty() && result.err.back() == '\n') result.err.pop_back();
    rendering.messages.push_back(fmt::format("{} was not rendered: {} ended with exit code {}: {}", target.string(),
                                             argv.front(), result.exit_code, result.err));
  } catch (const Error& error) {
    rendering.messages.push_back(fmt::format("{} was not rendered: {}", target.string(), error.what()));
  }
  return std::nullopt;
}

Path with_suffix(const Path& stem, std::string_view suffix) { return Path(stem) += suffix; }

void write(const Path& path, std::string_view bytes, Rendering& rendering) {
  write_file_atomically(path, bytes);
  rendering.written.push_back(path);
}

}  // namespace

Rendering render_figure(const Json& figure, const Path& stem, const RenderTools& tools) {
  Rendering rendering;
  const std::string specification = figure.dump(1, ' ', false, Json::error_handler_t::replace);
  write(with_suffix(stem, ".vl.json"), specification + "\n", rendering);

  const PrivateDirectory scratch;
  const Path program = scratch.path() / "render.cjs";
  write_file_atomically(program, asset("render.cjs"));
  const Path svg_path = with_suffix(stem, ".svg");
  const auto svg = output_of({tools.node, program.string()}, specification, "nodejs", svg_path, rendering);
  if (!svg) return rendering;
  write(svg_path, *svg, rendering);

  const Path png_path = with_suffix(stem, ".png");
  const auto png = output_of({tools.rsvg_convert, "--zoom=3", "--background-color=white", "--format=png"}, *svg,
                             "librsvg2-bin", png_path, rendering);
  if (png) write(png_path, *png, rendering);
  return rendering;
}

}  // namespace mneme::report
