#include "study/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "catalog/python_mixer.h"
#include "core/error.h"
#include "core/text.h"
#include "study/dependent.h"
#include "study/field_kinds.h"

namespace mneme::study {
namespace {

bool is_list_of_lists(const ConfigArray& items) {
  return !items.empty() &&
         std::all_of(items.begin(), items.end(), [](const ConfigValue& item) { return item.is_array(); });
}

// Python mixers that some point of the grid uses: their classes name tables that every point may have, and their
// arguments say what is a list and what an axis.
void find_python_mixers(const ConfigValue& tree) {
  const ConfigValue* model = tree.find("model");
  const ConfigValue* mixer = model && model->is_table() ? model->find("mixer") : nullptr;
  if (!mixer) return;
  const ConfigArray single{*mixer};
  for (const ConfigValue& value : mixer->is_array() ? mixer->array() : single)
    if (const auto* text = std::get_if<std::string>(&value.value))
      for (const std::string& name : split(*text, '+'))
        if (catalog::is_python_name(name)) catalog::find_python_mixer(name, model, value.origin);
}

std::optional<Axis> axis_of(const std::string& path, const ConfigValue& value) {
  if (value.is_array()) {
    if (is_list_field(path) && !is_list_of_lists(value.array())) return std::nullopt;
    return Axis{path, value.origin, value.array()};
  }
  if (const auto* text = std::get_if<std::string>(&value.value))
    if (auto values = parse_series(*text, value.origin)) return Axis{path, value.origin, std::move(*values)};
  return std::nullopt;
}

void check_not_empty(const Axis& axis) {
  if (axis.values.empty())
    throw Error(ErrorKind::usage, axis.origin,
                fmt::format("{}: an empty list, expected at least one value", axis.path));
}

void check_different(const Axis& axis) {
  std::unordered_map<std::string, std::string> seen;
  for (const ConfigValue& value : axis.values) {
    const auto [first, added] = seen.emplace(canonical(config_to_json(value)), value.origin);
    if (!added)
      throw Error(ErrorKind::usage, value.origin,
                  fmt::format("{}: {} is in its list twice (first at {}), expected different values", axis.path,
                              value.shown(), first->second));
  }
}

void collect(const ConfigValue& table, const std::string& path, std::vector<Axis>& axes) {
  for (const auto& [key, value] : table.table()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (auto axis = axis_of(below, value)) {
      check_not_empty(*axis);
      axes.push_back(std::move(*axis));
    } else if (value.is_table() && !may_depend(below, value)) {
      collect(value, below, axes);
    }
  }
}

// True if some value of the tree or of an axis may follow from others.
bool has_dependents(const ConfigValue& table, const std::string& path) {
  for (const auto& [key, value] : table.table()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (may_depend(below, value) || (value.is_table() && has_dependents(value, below))) return true;
  }
  return false;
}

// "model.gru.layers" -> "gru"; "" if the path is not an option of a mixer.
std::string mixer_table(const std::string& path) {
  const auto parts = split(path, '.');
  return parts.size() == 3 && parts[0] == "model" ? parts[1] : "";
}

bool uses(const config::RunConfig& run, const std::string& table) {
  const auto is_it = [&](const config::MixerConfig& mixer) { return mixer.entry && mixer.entry->table() == table; };
  return is_it(run.state_mixer) || std::any_of(run.mixers.begin(), run.mixers.end(), is_it);
}

void check_zip(const Zip& zip, const std::vector<const Axis*>& axes) {
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (axes[i]->values.size() != axes[0]->values.size())
      throw Error(ErrorKind::usage, zip.origin,
                  fmt::format("zip: {} has {} values and {} has {}, expected lists of one length", axes[0]->path,
                              axes[0]->values.size(), axes[i]->path, axes[i]->values.size()));
  // One list may repeat itself; the rows must differ.
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t row = 0; row < axes[0]->values.size(); ++row) {
    Json values = Json::array();
    for (const Axis* axis : axes) values.push_back(config_to_json(axis->values[row]));
    if (!seen.emplace(canonical(values), row).second)
      throw Error(ErrorKind::usage, axes[0]->values[row].origin,
                  fmt::format("zip: {} appears twice, expected different combinations", values.dump()));
  }
}

}  // namespace

Grid::Grid(ConfigValue tree, const std::vector<Zip>& zips) : tree_(std::move(tree)) {
  require(tree_.is_table(), "a grid is made from a table");
  find_python_mixers(tree_);
  collect(tree_, "", axes_);
  std::sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.path < b.path; });
  std::vector<const Zip*> zip_of(axes_.size());
  for (const Zip& zip : zips) {
    std::vector<const Axis*> zipped;
    // A scale may have made single values of all of them.
    const bool any = std::any_of(axes_.begin(), axes_.end(), [&](const Axis& axis) {
      return std::find(zip.paths.begin(), zip.paths.end(), axis.path) != zip.paths.end();
    });
    if (!any) continue;
    for (const std::string& path : zip.paths) {
      const auto found = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.path == path; });
      if (found == axes_.end())
        throw Error(ErrorKind::usage, zip.origin,
                    fmt::format("zip: {} is not an axis, expected a field with a list", path));
      const Zip*& place = zip_of[static_cast<std::size_t>(found - axes_.begin())];
      if (place) throw Error(ErrorKind::usage, zip.origin, fmt::format("zip: {} is zipped twice, expected once", path));
      place = &zip;
      zipped.push_back(&*found);
    }
    check_zip(zip, zipped);
  }
  std::map<const Zip*, std::size_t> dimension_of_zip;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!zip_of[i]) check_different(axes_[i]);
    const auto [known, first] =
        zip_of[i] ? dimension_of_zip.emplace(zip_of[i], sizes.size()) : std::pair{dimension_of_zip.end(), true};
    dimension_.push_back(first ? sizes.size() : known->second);
    if (!first) continue;
    sizes.push_back(std::ssize(axes_[i].values));
    shown.push_back(fmt::format("{} {}", grouped(sizes.back()), axes_[i].path));
  }
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  if (product > static_cast<double>(kMostRuns))
    throw Error(ErrorKind::usage, axes_.front().origin,
                fmt::format("a grid of {:.3g} runs ({}), expected at most {}", product, join(shown, " x "),
                            grouped(kMostRuns)));
  size_ = static_cast<std::int64_t>(product);
  stride_.assign(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) stride_[i - 1] = stride_[i] * sizes[i];
  dependents_ = has_dependents(tree_, "");
  for (const Axis& axis : axes_)
    for (const ConfigValue& value : axis.values) dependents_ = dependents_ || may_depend(axis.path, value);
}

std::size_t Grid::choice(std::int64_t number, std::size_t axis) const {
  return static_cast<std::size_t>(number / stride_[dimension_[axis]]) % axes_[axis].values.size();
}

class Grid::Cursor {
 public:
  explicit Cursor(const Grid& grid) : grid_(grid), point_(grid.tree_), places_(grid.axes_.size()) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i] = &point_;
      for (const std::string& part : split(grid.axes_[i].path, '.')) places_[i] = &places_[i]->table().at(part);
    }
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  const ConfigValue& at(std::int64_t number) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (const std::size_t now = grid_.choice(number, i); number_ < 0 || now != grid_.choice(number_, i))
        *places_[i] = grid_.axes_[i].values[now];
    number_ = number;
    if (!grid_.dependents_) return point_;
    settled_ = point_;
    settle_dependents(settled_);
    return settled_;
  }

 private:
  const Grid& grid_;
  ConfigValue point_, settled_;
  std::vector<ConfigValue*> places_;  // of the axes, in point_
  std::int64_t number_ = -1;          // whose values point_ has
};

ConfigValue Grid::point(std::int64_t number) const { return Cursor(*this).at(number); }

std::string Grid::describe(std::int64_t number) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    parts.push_back(fmt::format("{} = {}", axes_[i].path, axes_[i].values[choice(number, i)].shown()));
  return join(parts, ", ");
}

std::vector<config::RunConfig> Grid::runs() const {
  std::vector<Conditions> none;
  return runs(none);
}

std::optional<config::RunConfig> Grid::run(std::int64_t number, std::vector<Conditions>& exclusions, Cursor& cursor,
                                           config::RunSeries& series) const try {
  const ConfigValue& configuration = cursor.at(number);
  std::vector<Conditions*> undecided;
  for (Conditions& exclusion : exclusions) {
    const auto verdict = exclusion.hold(configuration);
    // Before it is checked: taking out what cannot work is what rules are for.
    if (verdict.value_or(false)) return std::nullopt;
    if (!verdict) undecided.push_back(&exclusion);
  }
  config::RunConfig run = series.resolve(configuration);
  if (undecided.empty()) return run;
  const Json complete = run.json();
  for (Conditions* exclusion : undecided)
    if (exclusion->hold(complete)) return std::nullopt;
  return run;
} catch (const Error& error) {
  if (axes_.empty()) throw;
  throw Error(error.kind(), "", fmt::format("{} (in the run with {})", error.what(), describe(number)));
}

std::vector<config::RunConfig> Grid::runs(std::vector<Conditions>& exclusions) const {
  std::vector<config::RunConfig> runs;
  std::unordered_map<std::string, std::int64_t> numbers;
  std::map<std::size_t, std::tuple<std::int64_t, std::int64_t, std::string>> idle;  // axes, and where they say nothing
  config::RunSeries series;
  Cursor cursor(*this);
  runs.reserve(static_cast<std::size_t>(size_));
  numbers.reserve(static_cast<std::size_t>(size_));
  for (std::int64_t number = 0; number < size_; ++number) {
    auto one = run(number, exclusions, cursor, series);
    if (!one) continue;
    const auto [first, added] = numbers.emplace(one->id, number);
    if (added)
      runs.push_back(std::move(*one));
    else if (const auto axes = axes_of_other_mixers(first->second, number, *one); !axes.empty())
      for (const std::size_t axis : axes) idle.try_emplace(axis, first->second, number, one->id);
    else
      fail_twice(first->second, number, one->id);
  }
  // No run at all has the mixer.
  for (const auto& [axis, twice] : idle)
    if (std::none_of(runs.begin(), runs.end(),
                     [&](const config::RunConfig& run) { return uses(run, mixer_table(axes_[axis].path)); }))
      std::apply([&](const auto&... parts) { fail_twice(parts...); }, twice);
  return runs;
}

std::vector<std::size_t> Grid::axes_of_other_mixers(std::int64_t first, std::int64_t second,
                                                    const config::RunConfig& run) const {
  std::vector<std::size_t> differing;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (choice(first, i) == choice(second, i)) continue;
    const std::string table = mixer_table(axes_[i].path);
    if (table.empty() || uses(run, table)) return {};
    differing.push_back(i);
  }
  return differing;
}

void Grid::fail_twice(std::int64_t first, std::int64_t second, const std::string& id) const {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    for (const std::int64_t of : {first, second})
      if (choice(first, i) != choice(second, i)) places.push_back(axes_[i].values[choice(of, i)].origin);
  throw Error(ErrorKind::usage, join(places, " and "),
              fmt::format("two points of the grid are the same run {}: {} and {}; expected values that change the run",
                          id, describe(first), describe(second)));
}

}  // namespace mneme::study
