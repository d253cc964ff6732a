#include "serve/export_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "report/claims/scales.h"
#include "report/pages/assets.h"
#include "serve/api.h"

namespace mneme::serve {
namespace {

// The live page, which carries its policy with it, but says that it is static.
std::string static_page() {
  constexpr std::string_view kLive = "<meta name=\"mneme\" content=\"live\">";
  std::string page(report::asset("dashboard/index.html"));
  const std::size_t at = page.find(kLive);
  require(at != page.npos, "the dashboard's page says that it is live");
  return page.replace(at, kLive.size(), "<meta name=\"mneme\" content=\"static\">");
}

class Writer {
 public:
  explicit Writer(Path directory) : directory_(std::move(directory)) {}

  void text(const Path& name, std::string_view text) {
    file_system().create_directories((directory_ / name).parent_path());
    write_file_atomically(directory_ / name, text);
    ++count_;
  }
  // Only names of our own making come here: ids in hex digits, and keys that are files in the lab already.
  void answer(const std::string& name, const Json& json) {
    text(Path("api/v1") / (name + ".json"), json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::size_t count() const { return count_; }

 private:
  Path directory_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t export_site(const store::Lab& lab, const Path& results, const Path& directory) {
  std::error_code none;
  if (std::filesystem::exists(directory, none) && !std::filesystem::is_directory(directory, none))
    throw Error(ErrorKind::io, directory.string(), "is a file, expected a directory");
  // Only a run writes into the lab.
  const Path inside = std::filesystem::weakly_canonical(directory, none),
             root = std::filesystem::weakly_canonical(lab.root(), none);
  if (std::mismatch(root.begin(), root.end(), inside.begin(), inside.end()).first == root.end())
    throw Error(ErrorKind::usage, "--export",
                fmt::format("'{}' is in the lab, expected a directory outside of it", directory.string()));
  LabView view(lab);
  view.read_all();
  Api api(view, results, std::numeric_limits<std::size_t>::max());
  while (api.work_ahead()) {
  }
  Writer writer(directory);
  writer.text("index.html", static_page());
  for (const char* name : {"app.js", "app.css"}) writer.text(name, report::asset(std::string("dashboard/") + name));
  writer.answer("lab", api.lab());
  writer.answer("runs", api.runs({}));
  for (const auto& [key, study] : view.studies()) writer.answer("studies/" + percent_encoded(key), api.study(key));
  for (const auto& [id, brief] : view.runs()) {
    writer.answer("runs/" + id, api.run(id));
    writer.answer("runs/" + id + "/curves", api.curves(id));
  }
  writer.answer("papers", api.papers());
  for (const report::Reproduction& item : report::reproductions()) {
    const Json whole = api.paper(item.id, "");
    writer.answer("papers/" + item.id, whole);
    writer.answer(fmt::format("papers/{}.{}", item.id, whole["scale"].get<std::string>()), whole);
    if (results.empty()) continue;
    for (const std::string& scale : report::kept_scales(item, results))
      if (whole["scale"] != scale)
        writer.answer(fmt::format("papers/{}.{}", item.id, scale), api.paper(item.id, scale));
  }
  return writer.count();
}

}  // namespace mneme::serve
