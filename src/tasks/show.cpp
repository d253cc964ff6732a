#include "tasks/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace mneme::tasks {
namespace {

struct RoleStyle {
  Role role;
  char letter;
  std::string_view ansi;
};

constexpr RoleStyle kRoleStyles[] = {
    {Role::filler, '.', "\x1b[2m"},   {Role::key, 'k', "\x1b[36m"},    {Role::value, 'v', "\x1b[32m"},
    {Role::query, '?', "\x1b[1;33m"}, {Role::data, 'd', "\x1b[34m"},   {Role::marker, '|', "\x1b[35m"},
    {Role::answer, 'a', "\x1b[33m"},  {Role::padding, '*', "\x1b[2m"},
};
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kLabelColour = "\x1b[1;32m";

const RoleStyle& style_of(Role role) { return kRoleStyles[static_cast<std::size_t>(role)]; }

// One column of an example: input, label and role.
struct Column {
  std::string input, label;
  Role role;
};

std::vector<Column> columns(const Task& task, const ExampleView& example) {
  const std::vector<Role> roles = task.roles(example);
  std::vector<Column> columns;
  for (std::size_t t = 0; t < roles.size(); ++t) {
    if (task.shape().is_signal())
      columns.push_back({example.signal[t] > 0.5F ? "#" : "_", example.targets[t] > 0.5F ? "#" : "_", roles[t]});
    else
      columns.push_back({task.token_text(example.tokens[t]),
                         example.labels[t] == kUnlabelled ? "" : task.label_text(example.labels[t]), roles[t]});
  }
  return columns;
}

std::string coloured(std::string_view text, std::string_view ansi, bool colour) {
  return colour && !text.empty() ? fmt::format("{}{}{}", ansi, text, kReset) : std::string(text);
}

// Pads by the visible width: colours take no room.
std::string cell(std::string_view text, std::size_t width, std::string_view ansi, bool colour) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + coloured(text, ansi, colour);
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

Json numbers(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) {
    if (value == std::floor(value))
      list.push_back(static_cast<std::int64_t>(value));
    else
      list.push_back(value);
  }
  return list;
}

template <class Visit>
void for_each_example(const TaskEntry& entry, const Options& options, std::uint64_t data_seed, Split split,
                      std::int64_t count, Visit visit) {
  const auto task = entry.build(options);
  const ExampleSource source(*task, data_seed, split);
  Example example(task->shape());
  for (std::int64_t index = 0; index < count; ++index) {
    source.write(static_cast<std::uint64_t>(index), example.view());
    visit(*task, index, example);
  }
}

}  // namespace

std::string show_example(const Task& task, const ExampleView& example, const ShowStyle& style) {
  const std::vector<Column> all = columns(task, example);
  std::size_t widest = 1;
  for (const Column& column : all) widest = std::max({widest, column.input.size(), column.label.size()});
  // A signal is drawn without gaps, and needs its letters less than its shape.
  const bool is_signal = task.shape().is_signal();
  const std::size_t step = is_signal ? 1 : widest + 1;
  constexpr std::size_t kHead = 9;
  const std::size_t per_block = std::max<std::size_t>(1, (std::max(style.width, kHead + step) - kHead) / step);

  std::string text;
  for (std::size_t begin = 0; begin < all.size(); begin += per_block) {
    std::string roles = fmt::format("{:<{}}", fmt::format("at {}", begin), kHead);
    std::string input = fmt::format("{:<{}}", "input", kHead), labels = fmt::format("{:<{}}", "label", kHead);
    for (std::size_t t = begin; t < std::min(begin + per_block, all.size()); ++t) {
      const RoleStyle& role = style_of(all[t].role);
      if (!is_signal) roles += cell(std::string_view(&role.letter, 1), step, role.ansi, style.colour);
      input += cell(all[t].input, step, role.ansi, style.colour);
      labels += cell(all[t].label, step, kLabelColour, style.colour);
    }
    text += trimmed(std::move(roles)) + trimmed(std::move(input)) + trimmed(std::move(labels));
  }
  return text;
}

std::string show_legend(const std::set<Role>& roles, const ShowStyle& style) {
  std::string line;
  for (const Role role : roles) {
    const RoleStyle& shown = style_of(role);
    line += fmt::format("{}{} {}", line.empty() ? "" : "   ",
                        coloured(std::string_view(&shown.letter, 1), shown.ansi, style.colour), role_name(role));
  }
  return line + '\n';
}

std::string show_samples(const TaskEntry& entry, const Options& options, std::uint64_t data_seed, Split split,
                         std::int64_t count, const ShowStyle& style) {
  std::string text;
  std::set<Role> roles;
  bool is_signal = false;
  for_each_example(entry, options, data_seed, split, count,
                   [&](const Task& task, std::int64_t index, Example& example) {
                     is_signal = task.shape().is_signal();
                     for (const Role role : task.roles(example.view())) roles.insert(role);
                     text += fmt::format("{}, seed {}, {} {}\n", entry.name, data_seed, split_name(split), index);
                     text += show_example(task, example.view(), style) + "\n";
                   });
  return text + (is_signal ? std::string("# on   _ off\n") : show_legend(roles, style));
}

Json samples_json(const TaskEntry& entry, const Options& options, std::uint64_t data_seed, Split split,
                  std::int64_t count) {
  Json examples = Json::array();
  for_each_example(entry, options, data_seed, split, count, [&](const Task& task, std::int64_t, Example& example) {
    if (task.shape().is_signal())
      examples.push_back({{"input", numbers(example.signal)}, {"labels", numbers(example.targets)}});
    else
      examples.push_back({{"input", example.tokens}, {"labels", example.labels}});
  });
  return {{"task", entry.name}, {"options", options.values()}, {"examples", std::move(examples)}};
}

std::string list_tasks() {
  std::string text;
  for (const TaskEntry& entry : task_list()) text += fmt::format("{:<28} {}\n", entry.name, entry.summary);
  return text;
}

}  // namespace mneme::tasks
