#include "study/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

void note_lists(const Schema& schema, const std::string& path, std::set<std::string>& lists) {
  for (const Field& field : schema)
    if (field.type == FieldType::integers) lists.insert(path + "." + field.name);
}

// The fields whose value is itself a list. Which tasks are meant may be an axis, so all are asked.
const std::set<std::string>& list_fields() {
  static const std::set<std::string> fields = [] {
    std::set<std::string> lists;
    for (const TaskEntry& task : task_list()) note_lists(task.options, "task", lists);
    note_lists(model_schema(), "model", lists);
    note_lists(train_schema(), "train", lists);
    for (const MixerEntry& mixer : mixer_catalog()) note_lists(mixer.options, "model." + mixer.name, lists);
    for (const MixerEntry& mixer : state_mixer_catalog()) note_lists(mixer.options, "model." + mixer.name, lists);
    return lists;
  }();
  return fields;
}

bool is_list_of_lists(const ConfigArray& items) {
  return !items.empty() &&
         std::all_of(items.begin(), items.end(), [](const ConfigValue& item) { return item.is_array(); });
}

std::optional<Axis> axis_of(const std::string& path, const ConfigValue& value) {
  if (value.is_array()) {
    if (list_fields().contains(path) && !is_list_of_lists(value.array())) return std::nullopt;
    return Axis{path, value.origin, value.array()};
  }
  if (const auto* text = std::get_if<std::string>(&value.value))
    if (auto values = parse_series(*text, value.origin)) return Axis{path, value.origin, std::move(*values)};
  return std::nullopt;
}

void check_axis(const Axis& axis) {
  if (axis.values.empty())
    throw Error(ErrorKind::usage, axis.origin,
                fmt::format("{}: an empty list, expected at least one value", axis.path));
  std::unordered_map<std::string, std::string> seen;
  for (const ConfigValue& value : axis.values) {
    const auto [first, added] = seen.emplace(canonical(config_to_json(value)), value.origin);
    if (!added)
      throw Error(ErrorKind::usage, value.origin,
                  fmt::format("{}: {} stands twice in its list (first at {}), expected different values", axis.path,
                              value.shown(), first->second));
  }
}

void collect(const ConfigValue& table, const std::string& path, std::vector<Axis>& axes) {
  for (const auto& [key, value] : table.table()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (value.is_table()) {
      collect(value, below, axes);
    } else if (auto axis = axis_of(below, value)) {
      check_axis(*axis);
      axes.push_back(std::move(*axis));
    }
  }
}

}  // namespace

Grid::Grid(ConfigValue tree) : tree_(std::move(tree)) {
  check(tree_.is_table(), "a grid is made from a table");
  collect(tree_, "", axes_);
  std::sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.path < b.path; });
  double product = 1;
  for (const Axis& axis : axes_) product *= static_cast<double>(axis.values.size());
  if (product > static_cast<double>(kMostRuns)) {
    std::vector<std::string> sizes;
    for (const Axis& axis : axes_)
      sizes.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(axis.values.size())), axis.path));
    throw Error(ErrorKind::usage, tree_.origin,
                fmt::format("a grid of {:.3g} runs ({}), expected at most {}", product, join(sizes, " x "),
                            grouped(kMostRuns)));
  }
  size_ = static_cast<std::int64_t>(product);
}

std::size_t Grid::choice(std::int64_t number, std::size_t axis) const {
  for (std::size_t last = axes_.size() - 1; last > axis; --last)
    number /= static_cast<std::int64_t>(axes_[last].values.size());
  return static_cast<std::size_t>(number) % axes_[axis].values.size();
}

ConfigValue Grid::point(std::int64_t number) const {
  ConfigValue result = tree_;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    ConfigValue* place = &result;
    for (const std::string& part : split(axes_[i].path, '.')) place = &place->table().at(part);
    *place = axes_[i].values[choice(number, i)];
  }
  return result;
}

std::string Grid::describe(std::int64_t number) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    parts.push_back(fmt::format("{} = {}", axes_[i].path, axes_[i].values[choice(number, i)].shown()));
  return join(parts, ", ");
}

std::vector<RunConfig> Grid::runs() const {
  std::vector<RunConfig> runs;
  std::unordered_map<std::string, std::int64_t> numbers;
  for (std::int64_t number = 0; number < size_; ++number) {
    try {
      runs.push_back(resolve_run(point(number)));
    } catch (const Error& error) {
      if (axes_.empty()) throw;
      throw Error(error.kind(), "", fmt::format("{} (in the run with {})", error.what(), describe(number)));
    }
    const auto [first, added] = numbers.emplace(runs.back().id, number);
    if (added) continue;
    std::vector<std::string> places;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      for (const std::int64_t of : {first->second, number})
        if (choice(first->second, i) != choice(number, i)) places.push_back(axes_[i].values[choice(of, i)].origin);
    throw Error(
        ErrorKind::usage, join(places, " and "),
        fmt::format("two points of the grid are the same run {}: {} and {}; expected values that make a difference",
                    runs.back().id, describe(first->second), describe(number)));
  }
  return runs;
}

}  // namespace mneme
