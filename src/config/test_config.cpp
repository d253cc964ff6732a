#include "config/test_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace mneme::config {
namespace {

// Floats of one tensor of hidden states, or of one head's square of attention: 16 MB. Nothing is kept for a backward
// pass, so more sequences fit than in training, and recurrent mixers need many to be fast.
constexpr std::int64_t kTestFloats = 1 << 22;
constexpr std::int64_t kMostSequences = 256;

const tasks::GeneralisationAxis& axis_of(const RunConfig& run) {
  const std::string along = run.test.text("along");
  std::vector<std::string> known;
  for (const tasks::GeneralisationAxis& axis : run.task_entry->axes) {
    if (axis.option == along) return axis;
    known.push_back(axis.option);
  }
  run.test.reject("along", known.empty()
                               ? fmt::format("\"\": {} has no generalisation axes", run.task_entry->name)
                               : fmt::format("one of the axes of {}: {}", run.task_entry->name, join(known, ", ")));
}

void check_length(const RunConfig& run, const char* option, const std::string& what, std::int64_t length) {
  if (const std::string fixed = fixed_length_of(run, length); !fixed.empty())
    run.test.reject(option,
                    fmt::format("sequences that the model can read: {} has {} steps, and {}", what, length, fixed));
}

void resolve_axis(RunConfig& run) {
  const tasks::GeneralisationAxis& axis = axis_of(run);
  std::vector<std::int64_t> values = run.test.integers("values");
  if (values.empty()) values = axis.values;
  const std::set<std::int64_t> sorted(values.begin(), values.end());
  run.test.set("values", std::vector<std::int64_t>(sorted.begin(), sorted.end()));
  for (const std::int64_t value : sorted) {
    const std::string what = fmt::format("{} = {}", axis.option, value);
    tasks::TaskShape shape;
    try {
      shape = at_test_value(run, value).shape;
    } catch (const Error& error) {
      run.test.reject("values", fmt::format("values of {} that the task allows: {}", axis.option, error.what()));
    }
    // Examples without padding have fewer tokens than training; for more the model has no rows.
    if (shape.vocab > run.shape.vocab || shape.classes > run.shape.classes)
      run.test.reject("values", fmt::format("no more tokens than the {} of training, not {} at {}", run.shape.vocab,
                                            shape.vocab, what));
    check_length(run, "values", what, shape.length);
  }
}

void check_phases(const RunConfig& run) {
  if (run.task_entry->name != "counting")
    run.test.reject("phases", fmt::format("false: {} has no phase tests, only counting has", run.task_entry->name));
  for (const tasks::PhaseTest& test : tasks::phase_tests(timing_of(run.task)))
    check_length(run, "phases", test.name, std::ssize(test.signal.input));
}

}  // namespace

const Schema& test_schema() {
  static const Schema schema = {
      text_field("along", "", "generalisation axis of the task to test the trained model on; \"\": none"),
      integers_field("values", Json::array(), 1, 1 << 24, "values on that axis; none: the default values of the axis"),
      integer_field("examples", 1000, 1, 1e9, "test examples at each value"),
      flag_field("phases", false, "counting: offsets, two ISIs and double ISIs"),
      integer_field("traces", 0, 0, 1000,
                    "number of test signals whose input, target and output are saved in traces.json"),
  };
  return schema;
}

void resolve_test(RunConfig& run, const ConfigValue& table) {
  static const Options untouched = defaults(test_schema(), "test");
  if (table.is_table() && table.table().empty()) {
    run.test = untouched;
    return;
  }
  run.test = resolve(test_schema(), &table, "test");
  if (run.test.text("along").empty()) {
    for (const char* name : {"values", "examples"}) run.test.set(name, untouched.values().at(name));
  } else {
    resolve_axis(run);
  }
  if (run.test.flag("phases")) check_phases(run);
  if (run.test.integer("traces") > 0 && !run.shape.is_signal())
    run.test.reject("traces", fmt::format("0: {} has no signals", run.task_entry->name));
}

Json test_json(const RunConfig& run) {
  const bool along = !run.test.text("along").empty();
  if (!along && !run.test.flag("phases") && run.test.integer("traces") == 0) return {};
  Json values = run.test.values();
  if (!along)
    for (const char* name : {"along", "values", "examples"}) values.erase(name);
  return values;
}

std::string fixed_length_of(const RunConfig& run, std::int64_t length) {
  if (const std::int64_t most = run.model.integer("max_positions"); most > 0 && length > most)
    return fmt::format("its learned positions (model.max_positions) end at {}", most);
  for (std::int64_t layer = 0; layer < run.model.integer("layers") && length > run.shape.length; ++layer) {
    const MixerConfig& mixer = run.mixer(layer);
    catalog::MixerContext longer = run.context(layer);
    longer.length = length;
    if (mixer.entry->parameters(longer, mixer.options) != mixer.entry->parameters(run.context(layer), mixer.options))
      return fmt::format("{} has parameters for {} steps", mixer.entry->name, run.shape.length);
  }
  return "";
}

RunConfig with_task(const RunConfig& run, Options task) {
  RunConfig moved = run;
  moved.task = std::move(task);
  moved.shape = run.task_entry->build(moved.task)->shape();
  const std::int64_t length = moved.shape.length, side = std::max(length, run.model.integer("width"));
  moved.train.set("micro_batch", std::clamp<std::int64_t>(kTestFloats / (length * side), 1, kMostSequences));
  return moved;
}

RunConfig at_test_value(const RunConfig& run, std::int64_t value) {
  return with_task(run, tasks::at_axis_value(run.task, axis_of(run), value));
}

tasks::Timing timing_of(const Options& task) {
  const auto iti = task.integers("iti");
  return {task.integer("isi"), iti.front(), iti.back()};
}

}  // namespace mneme::config
