#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "tasks/show.h"

namespace mneme::tasks {
namespace {

std::string type_name(FieldType type) {
  switch (type) {
    case FieldType::flag: return "flag";
    case FieldType::integer: return "integer";
    case FieldType::real: return "real";
    case FieldType::text: return "text";
    case FieldType::choice: return "choice";
    case FieldType::integers: return "integers";
    case FieldType::reals: return "numbers";
    case FieldType::texts: return "texts";
  }
  return "";
}

std::string indented(const std::string& text) {
  std::string result;
  for (const std::string& line : split(text, '\n')) result += fmt::format("  {}\n", line);
  return result;
}

}  // namespace

std::string describe_task(const TaskEntry& entry) {
  const Options options = defaults(entry.options, "task");
  const auto task = entry.build(options);
  const TaskShape shape = task->shape();
  std::string text = fmt::format("{}: {}\n\nlayout\n{}\noptions\n", entry.name, entry.summary, indented(entry.layout));
  for (const Field& field : entry.options)
    text += fmt::format("  {:<12} {:<18} {}\n  {:<12} {:<18} {}\n", field.name, field.fallback.dump(), field.help, "",
                        "", field.expected());
  text += "\nat the defaults\n";
  text += shape.is_signal()
              ? fmt::format("  a signal of {} steps, one target per step\n", shape.length)
              : fmt::format("  {} positions, {} tokens, {} classes, {:.4g} labelled positions per training example\n",
                            shape.length, shape.vocab, shape.classes, shape.labelled);
  text += fmt::format("  chance {:.4g}\n\nmetrics\n  {}\n\ngeneralisation\n", task->chance(),
                      fmt::join(entry.metrics, ", "));
  for (const GeneralisationAxis& axis : entry.axes)
    text += fmt::format("  {} = {}: {}\n", axis.option, fmt::join(axis.values, ", "), axis.help);
  return text + fmt::format("\nreference\n  {}\n", entry.citation);
}

Json task_json(const TaskEntry& entry) {
  const auto task = entry.build(defaults(entry.options, "task"));
  const TaskShape shape = task->shape();
  Json options = Json::array(), axes = Json::array();
  for (const Field& field : entry.options)
    options.push_back({{"name", field.name},
                       {"type", type_name(field.type)},
                       {"default", field.fallback},
                       {"expected", field.expected()},
                       {"help", field.help}});
  for (const GeneralisationAxis& axis : entry.axes)
    axes.push_back({{"option", axis.option}, {"values", axis.values}, {"help", axis.help}});
  return {{"name", entry.name},
          {"summary", entry.summary},
          {"citation", entry.citation},
          {"layout", entry.layout},
          {"options", std::move(options)},
          {"metrics", entry.metrics},
          {"axes", std::move(axes)},
          {"chance", task->chance()},
          {"shape",
           {{"length", shape.length},
            {"vocab", shape.vocab},
            {"classes", shape.classes},
            {"labelled", shape.labelled},
            {"signal", shape.is_signal()}}}};
}

}  // namespace mneme::tasks
