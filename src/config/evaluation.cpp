#include "config/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "catalog/base_conv.h"
#include "config/test_config.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::config {
namespace {

// Floats of the hidden states of one sequence, 4 MB a tensor: up to here sequences are read whole.
constexpr std::int64_t kWholeFloats = 1 << 20;
// Token by token, all sequences of a batch go on together: tokens in memory, floats of their states, sequences.
constexpr std::int64_t kStepTokens = 1 << 23, kStepFloats = 1 << 24, kMostSequences = 256;
// Examples per point, unless the user gives a number.
constexpr std::int64_t kExamples = 1000, kPointTokens = 1 << 22, kLeastExamples = 8;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, "evaluate", what); }

// The task's axis of this name, or any option of it that is a whole number.
tasks::GeneralisationAxis axis_of(const RunConfig& run, const std::string& along) {
  std::vector<std::string> known;
  for (const tasks::GeneralisationAxis& axis : run.task_entry->axes) {
    if (axis.option == along) return axis;
    known.push_back(axis.option);
  }
  for (const Field& field : run.task_entry->options) {
    if (field.type != FieldType::integer && field.type != FieldType::integers) continue;
    if (field.name == along) return {along, {}, field.help, nullptr};
    if (std::find(known.begin(), known.end(), field.name) == known.end()) known.push_back(field.name);
  }
  refuse(
      fmt::format("--along: {} has no axis '{}', expected one of {}", run.task_entry->name, along, join(known, ", ")));
}

// The run with these options of its task over those of training, checked as if they had been written.
RunConfig moved(const RunConfig& run, const Json& options, std::string_view origin) {
  Json task = run.task.values();
  task.update(options);
  const ConfigValue table = config_from_json(task, origin);
  return with_task(run, resolve(run.task_entry->options, &table, "task"));
}

bool state_grows(const RunConfig& run) {
  RunConfig longer = run;
  longer.shape.length *= 2;
  return longer.state() != run.state();
}

// The mixer whose filter ends where training did, though the model reads on; "" if there is none.
std::string cut_filter(const RunConfig& run) {
  for (std::int64_t layer = 0; layer < run.model.integer("layers"); ++layer) {
    const MixerConfig& mixer = run.mixer(layer);
    const bool truncated = mixer.options.values().value("truncate", false);
    const bool conv =
        mixer.entry->name == "base_conv" && catalog::base_conv_kernel_size(run.context(layer), mixer.options) <= 0;
    if (truncated || conv) return mixer.entry->name;
  }
  return "";
}

void choose_reading(EvaluationPoint& point, const RunConfig& trained, ReadingChoice choice, bool has_step) {
  const std::int64_t length = point.run.shape.length;
  const std::string cut = length > trained.shape.length ? cut_filter(trained) : "";
  if (!cut.empty())
    point.notes.push_back(fmt::format("{}: its filter has the {} steps of training; it forgets what is older", cut,
                                      trained.shape.length));
  if (choice == ReadingChoice::stepwise && !has_step)
    refuse("--mode step: a mixer of this model has no recurrent form, expected --mode forward");
  if (choice == ReadingChoice::stepwise && !cut.empty())
    refuse(
        fmt::format("--mode step: beyond its training length {} has no recurrent form, expected --mode forward", cut));
  const bool steady = has_step && cut.empty() && !state_grows(point.run);
  const bool large = length * trained.model.integer("width") > kWholeFloats;
  if (choice == ReadingChoice::stepwise || (choice == ReadingChoice::automatic && steady && large)) {
    point.reading = Reading::stepwise;
    const std::int64_t state = std::max<std::int64_t>(point.run.state(), 1);
    const std::int64_t sequences = std::min({kStepTokens / length, kStepFloats / state, kMostSequences});
    point.run.train.set("micro_batch", std::max<std::int64_t>(sequences, 1));
  }
}

EvaluationPoint point_at(const RunConfig& trained, const EvaluationRequest& request, const Json& options,
                         std::string_view what, bool has_step) {
  EvaluationPoint point;
  try {
    point.run = moved(trained, options, what);
  } catch (const Error& error) {
    refuse(fmt::format("the task cannot be built with {}: {}", what, error.what()));
  }
  const tasks::TaskShape& shape = point.run.shape;
  if (shape.vocab > trained.shape.vocab || shape.classes > trained.shape.classes)
    refuse(fmt::format("{}: {} tokens and {} answers, expected no more than the {} and {} of training", what,
                       shape.vocab, shape.classes, trained.shape.vocab, trained.shape.classes));
  if (const std::string fixed = fixed_length_of(trained, shape.length); !fixed.empty())
    refuse(fmt::format("{}: {} steps, but {}", what, shape.length, fixed));
  choose_reading(point, trained, request.reading, has_step);
  point.examples =
      request.examples > 0 ? request.examples : std::clamp(kPointTokens / shape.length, kLeastExamples, kExamples);
  return point;
}

std::int64_t whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(fmt::format("--along: got '{}', expected a whole number", text));
  return value;
}

// "64..6400x2" or "64..640+64".
std::vector<std::int64_t> spaced_values(std::string_view text, std::size_t dots) {
  const std::size_t sign = text.find_first_of("x+", dots);
  if (sign == text.npos)
    refuse(fmt::format("--along: got '{}', expected a step after it, as in 64..6400x2 or 64..640+64", text));
  const std::int64_t first = whole_number(text.substr(0, dots)),
                     last = whole_number(text.substr(dots + 2, sign - dots - 2)),
                     by = whole_number(text.substr(sign + 1));
  const bool times = text[sign] == 'x';
  if (first < 1 || last < first || by < (times ? 2 : 1))
    refuse(fmt::format("--along: got '{}', expected 1 <= first <= last, and steps of at least x2 or +1", text));
  constexpr std::size_t kMost = 1000;
  std::vector<std::int64_t> values;
  for (std::int64_t value = first; value < last; value = times ? value * by : value + by) {
    values.push_back(value);
    if (values.size() > kMost) refuse(fmt::format("--along: got '{}', expected at most {} values", text, kMost));
    if (times && value > last / by) break;
  }
  values.push_back(last);
  return values;
}

}  // namespace

ReadingChoice parse_reading(std::string_view name) {
  if (name == "auto") return ReadingChoice::automatic;
  if (name == "forward") return ReadingChoice::whole;
  if (name == "step") return ReadingChoice::stepwise;
  refuse(fmt::format("--mode: got '{}', expected auto, forward or step", name));
}

std::vector<std::int64_t> parse_axis_values(std::string_view text) {
  if (const std::size_t dots = text.find(".."); dots != text.npos) return spaced_values(text, dots);
  std::vector<std::int64_t> values;
  for (const std::string& part : split(text, ',')) values.push_back(whole_number(part));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<EvaluationPoint> plan_evaluation(const RunConfig& run, const EvaluationRequest& request, bool has_step) {
  const RunConfig base = moved(run, request.task, "evaluate");
  if (request.along.empty()) return {point_at(run, request, request.task, "these options", has_step)};
  const tasks::GeneralisationAxis axis = axis_of(run, request.along);
  const std::vector<std::int64_t>& values = request.values.empty() ? axis.values : request.values;
  if (values.empty())
    refuse(fmt::format("--along {}: the task names no values for it, expected some, as in {}=1..8x2", axis.option,
                       axis.option));
  std::vector<EvaluationPoint> points;
  for (const std::int64_t value : values) {
    const std::string what = fmt::format("{} = {}", axis.option, value);
    points.push_back(point_at(run, request, tasks::at_axis_value(base.task, axis, value).values(), what, has_step));
    points.back().value = value;
  }
  return points;
}

}  // namespace mneme::config
