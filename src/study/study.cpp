#include "study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace mneme::study {
namespace {

const std::vector<std::string> kSections = {"task", "model", "train", "test"};

void check_keys(const ConfigValue& table, std::string_view what, const std::vector<std::string>& known) {
  if (!table.is_table())
    throw Error(ErrorKind::usage, table.origin, fmt::format("{}: got {}, expected a table", what, table.shown()));
  for (const auto& [key, value] : table.table())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(ErrorKind::usage, value.origin,
                  fmt::format("{}: unknown key '{}'{}", what, key, suggestion(key, known)));
}

ConfigValue checked_file(std::string_view text, const Path& file) {
  ConfigValue root = parse_toml(text, file.string());
  check_keys(root, "study",
             {"title", "task", "model", "train", "test", "zip", "exclude", "include", "scale", "figure", "paper"});
  if (const ConfigValue* scales = root.find("scale")) {
    if (!scales->is_table())
      throw Error(ErrorKind::usage, scales->origin,
                  fmt::format("scale: got {}, expected tables [scale.NAME]", scales->shown()));
    for (const auto& [name, scale] : scales->table()) check_keys(scale, "scale." + name, kSections);
  }
  return root;
}

std::vector<std::string> scale_names(const ConfigValue& root) {
  std::vector<std::string> names;
  if (const ConfigValue* scales = root.find("scale"))
    for (const auto& [name, scale] : scales->table()) names.push_back(name);
  return names;
}

std::string title_of(const ConfigValue& root, const std::string& name) {
  const ConfigValue* title = root.find("title");
  if (!title) return name;
  if (const auto* text = std::get_if<std::string>(&title->value)) return *text;
  throw Error(ErrorKind::usage, title->origin, fmt::format("title: got {}, expected a string", title->shown()));
}

std::string chosen_scale(const std::string& wanted, const std::vector<std::string>& known, const Path& file) {
  if (wanted == kUnscaled) return "";
  const std::string scale(wanted.empty() ? kDefaultScale : wanted);
  if (std::find(known.begin(), known.end(), scale) != known.end()) return scale;
  if (wanted.empty()) return "";
  if (known.empty())
    throw Error(ErrorKind::usage, file.string(), fmt::format("unknown scale '{}'; this study has none", wanted));
  throw Error(ErrorKind::usage, file.string(), fmt::format("unknown scale '{}'{}", wanted, suggestion(wanted, known)));
}

ConfigValue scaled(const ConfigValue& root, const std::string& scale) {
  ConfigValue tree{ConfigTable{}, root.origin};
  for (const std::string& section : kSections)
    if (const ConfigValue* table = root.find(section)) tree.table()[section] = *table;
  if (!scale.empty()) tree = merged(std::move(tree), *root.find("scale")->find(scale));
  tree.origin = root.origin;
  return tree;
}

const ConfigArray& tables_of(const ConfigValue& root, const char* name) {
  static const ConfigArray none;
  const ConfigValue* tables = root.find(name);
  if (!tables) return none;
  if (!tables->is_array())
    throw Error(ErrorKind::usage, tables->origin,
                fmt::format("{}: got {}, expected tables [[{}]]", name, tables->shown(), name));
  return tables->array();
}

std::vector<Zip> zips_of(const ConfigValue& root) {
  std::vector<Zip> zips;
  const ConfigValue* written = root.find("zip");
  if (!written) return zips;
  const auto wrong = [](const ConfigValue& value) {
    throw Error(
        ErrorKind::usage, value.origin,
        fmt::format("zip: got {}, expected lists of paths, like [[\"task.length\", \"task.pairs\"]]", value.shown()));
  };
  if (!written->is_array()) wrong(*written);
  for (const ConfigValue& group : written->array()) {
    if (!group.is_array() || group.array().size() < 2) wrong(*written);
    Zip zip{{}, written->origin};
    for (const ConfigValue& path : group.array()) {
      const auto* text = std::get_if<std::string>(&path.value);
      if (!text) wrong(*written);
      zip.paths.push_back(*text);
    }
    zips.push_back(std::move(zip));
  }
  return zips;
}

std::vector<std::string> paths_of(const Json& config) {
  std::vector<std::string> paths;
  const Json flat = config.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string path = pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    paths.push_back(std::move(path));
  }
  return paths;
}

// Adds the runs of every [[include]], which may repeat what is there.
void add_included(Study& study, const ConfigValue& root, const ConfigValue& tree, const std::vector<Zip>& zips) {
  const ConfigArray& overlays = tables_of(root, "include");
  if (overlays.empty()) return;
  std::set<std::string> ids;
  for (const config::RunConfig& run : study.runs) ids.insert(run.id);
  for (const ConfigValue& overlay : overlays) {
    check_keys(overlay, "include", kSections);
    const Grid grid(merged(tree, overlay), zips);
    for (const Axis& axis : grid.axes())
      if (std::none_of(study.axes.begin(), study.axes.end(),
                       [&](const Axis& known) { return known.path == axis.path; }))
        study.axes.push_back(axis);
    for (config::RunConfig& run : grid.runs())
      if (ids.insert(run.id).second) study.runs.push_back(std::move(run));
  }
}

// A file under studies/ is called by its place there: "recall/fig1".
std::string name_of(const Path& file) {
  Path name;
  for (const Path& part : file.lexically_normal())
    name = part == "studies" ? Path() : name.empty() ? part : name / part;
  const bool under_studies = std::find(file.begin(), file.end(), Path("studies")) != file.end();
  return under_studies ? name.replace_extension().generic_string() : file.stem().string();
}

// [figure] is one, [[figure]] are several.
std::vector<ConfigValue> figures_of(const ConfigValue& root) {
  const ConfigValue* written = root.find("figure");
  if (!written) return {};
  return written->is_array() ? written->array() : ConfigArray{*written};
}

void add_paper(Study& study, const ConfigValue& root) {
  for (const ConfigValue& table : tables_of(root, "paper")) study.paper.push_back(parse_paper_value(table));
  if (study.paper.empty() || study.runs.empty()) return;
  for (const config::RunConfig& run : study.runs) {
    const Json config = run.json();
    for (PaperValue& value : study.paper) value.conditions.hold(config);
  }
  const std::vector<std::string> paths = paths_of(study.runs.front().json());
  for (const PaperValue& value : study.paper) value.conditions.check_used(paths);
}

}  // namespace

std::string variant_name(const std::string& name, std::vector<std::string> words) {
  constexpr std::size_t kLongest = 60;
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=-+";
  if (words.empty()) return name;
  std::sort(words.begin(), words.end());
  const std::string joined = join(words, "-");
  if (joined.size() <= kLongest && joined.find_first_not_of(kPlain) == joined.npos) return name + "-" + joined;
  return name + "-" + sha256_hex(join(words, "\n")).substr(0, 12);
}

std::string Study::file_name() const {
  std::string file = scale.empty() ? name : name + "-" + scale;
  std::replace(file.begin(), file.end(), '/', '-');
  return variant_name(file, overrides);
}

Study parse_study(std::string_view text, const Path& file, const StudyOptions& options) {
  const ConfigValue root = checked_file(text, file);
  Study study;
  study.name = name_of(file);
  study.title = title_of(root, study.name);
  study.scales = scale_names(root);
  study.scale = chosen_scale(options.scale, study.scales, file);
  study.overrides = options.overrides;
  std::sort(study.overrides.begin(), study.overrides.end());
  study.figures = figures_of(root);
  ConfigValue tree = scaled(root, study.scale);
  for (const std::string& assignment : options.overrides) apply_override(tree, assignment);
  const std::vector<Zip> zips = zips_of(root);
  std::vector<Conditions> exclusions;
  for (const ConfigValue& rule : tables_of(root, "exclude")) exclusions.emplace_back(rule, "exclude");
  const Grid grid(tree, zips);
  study.axes = grid.axes();
  study.runs = grid.runs(exclusions);
  for (const Conditions& exclusion : exclusions)
    exclusion.check_used(paths_of(study.runs.empty() ? config_to_json(tree) : study.runs.front().json()));
  add_included(study, root, tree, zips);
  add_paper(study, root);
  if (study.runs.empty())
    throw Error(ErrorKind::usage, tables_of(root, "exclude").front().origin,
                fmt::format("all {} runs are excluded, expected at least one run to be left", grouped(grid.size())));
  return study;
}

Study load_study(const Path& file, const StudyOptions& options) { return parse_study(read_file(file), file, options); }

StudyOutline outline_study(std::string_view text, const Path& file) {
  const ConfigValue root = checked_file(text, file);
  StudyOutline outline;
  outline.name = name_of(file);
  outline.title = title_of(root, outline.name);
  outline.scales = scale_names(root);
  outline.runs = std::ssize(parse_study(text, file).runs);
  return outline;
}

}  // namespace mneme::study
