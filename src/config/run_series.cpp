#include "config/run_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "core/hash.h"
#include "core/random.h"

namespace mneme::config {
namespace {

// Options from which nothing follows but, from the seed, other seeds.
constexpr std::array<std::string_view, 7> kFree{"lr", "seed", "weight_decay", "warmup", "clip", "beta1", "beta2"};

bool is_free(std::string_view name) { return std::find(kFree.begin(), kFree.end(), name) != kFree.end(); }

const Schema& free_schema() {
  static const Schema schema = [] {
    Schema fields;
    for (const Field& field : train_schema())
      if (is_free(field.name)) fields.push_back(field);
    return fields;
  }();
  return schema;
}

// Calls `differ(key, a, b)` for each key whose values differ; false if the tables have other keys or it says so.
template <typename Differ>
bool compare(const ConfigTable& a, const ConfigTable& b, Differ differ) {
  if (a.size() != b.size()) return false;
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right)
    if (left->first != right->first ||
        (left->second != right->second && !differ(left->first, left->second, right->second)))
      return false;
  return true;
}

// The free options in which two configurations differ; nothing if they differ in more.
std::optional<ConfigTable> free_changes(const ConfigValue& before, const ConfigValue& now) {
  if (!now.is_table()) return std::nullopt;
  ConfigTable changes;
  const auto of_train = [&](const std::string& name, const ConfigValue&, const ConfigValue& value) {
    return is_free(name) && changes.emplace(name, value).second;
  };
  const auto of_root = [&](const std::string& section, const ConfigValue& a, const ConfigValue& b) {
    return section == "train" && a.is_table() && b.is_table() && compare(a.table(), b.table(), of_train);
  };
  if (!compare(before.table(), now.table(), of_root)) return std::nullopt;
  return changes;
}

std::string member(const std::string& name, const Json& value) {
  return fmt::format(R"("{}":{})", name, canonical(value));
}

// Seeds that were not given follow from train.seed, and so does that of the order where there is one order only.
std::vector<std::string> derived_seeds(const ConfigValue& root, const RunConfig& run) {
  const ConfigValue* train = root.find("train");
  std::vector<std::string> derived;
  for (const char* name : {"data_seed", "init_seed", "order_seed", "dropout_seed"}) {
    const ConfigValue* given = train ? train->find(name) : nullptr;
    const bool one_order = std::string_view(name) == "order_seed" && run.train.integer("examples") == 0;
    if (one_order || !given || config_to_json(*given) == -1) derived.emplace_back(name);
  }
  return derived;
}

}  // namespace

void RunSeries::take_apart() {
  if (apart_) return;
  const Json whole = last_.json(), &train = whole.at("train");
  derived_ = derived_seeds(root_, last_);
  members_.clear();
  for (const auto& [name, value] : train.items()) members_[name] = member(name, value);
  beginning_ = canonical(whole);
  const std::string end = canonical(train) + "}";
  require(beginning_.ends_with(end), "train is the last key of a configuration");
  beginning_.erase(beginning_.size() - end.size());
  apart_ = true;
}

bool RunSeries::follow(const ConfigValue& root) {
  const std::optional<ConfigTable> changes = known_ ? free_changes(root_, root) : std::nullopt;
  if (!changes) return false;
  const ConfigValue table{*changes, root.origin};
  const Options checked = mneme::resolve(free_schema(), &table, "train");
  take_apart();
  const auto set = [&](const std::string& name, Json value) {
    members_[name] = member(name, value);
    last_.train.set(name, std::move(value));
  };
  for (const auto& [name, value] : *changes) {
    set(name, checked.values().at(name));
    root_.table().at("train").table().at(name) = value;
    if (name != "seed") continue;
    const auto seed = static_cast<std::uint64_t>(last_.train.integer("seed"));
    for (const std::string& derived : derived_)
      set(derived, derived_seed(seed, std::string_view(derived).substr(0, derived.rfind('_'))));
  }
  std::string text = beginning_ + "{";
  for (const auto& [name, one] : members_) text.append(one).push_back(',');
  text.back() = '}';
  last_.id = sha256_hex(text += "}").substr(0, 12);
  return true;
}

RunConfig RunSeries::resolve(const ConfigValue& root) {
  if (follow(root)) return last_;
  known_ = apart_ = false;
  last_ = resolver_.resolve(root);
  root_ = root;
  known_ = true;
  return last_;
}

}  // namespace mneme::config
