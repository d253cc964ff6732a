#include "train/signals.h"

#include <fmt/format.h>

#include <cmath>

#include "config/test_config.h"

namespace mneme::train {
namespace {

constexpr std::int64_t kPhaseExamples = 200;

std::vector<float> outputs_of(const config::RunConfig& run, models::SequenceModel& model,
                              const std::vector<float>& input) {
  const torch::NoGradGuard guard;
  nn::Pass pass = nn::Pass::evaluation();
  const torch::Tensor raw = model.signal(torch::tensor(input).unsqueeze(0).to(model.device()), pass);
  const torch::Tensor output = signal_output(run, raw).cpu().contiguous();
  return {output.data_ptr<float>(), output.data_ptr<float>() + output.numel()};
}

// Five digits are more than can be drawn.
Json rounded(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(std::round(static_cast<double>(value) * 1e5) / 1e5);
  return list;
}

Json trace(const config::RunConfig& run, models::SequenceModel& model, const std::string& name,
           const tasks::SignalPair& signal) {
  return {{"name", name},
          {"input", rounded(signal.input)},
          {"target", rounded(signal.targets)},
          {"output", rounded(outputs_of(run, model, signal.input))}};
}

}  // namespace

Json phase_results(const config::RunConfig& run, models::SequenceModel& model, Objective& objective,
                   const EvaluationTick& tick) {
  const double offset = objective.evaluate(tasks::Split::test, kPhaseExamples, tick).extra.at("offset");
  Json results = {{"offset", offset}, {"offset_passed", offset >= tasks::OffsetScore::kEnough}};
  for (const tasks::PhaseTest& test : tasks::phase_tests(config::timing_of(run.task)))
    results[test.name] = test.passes(outputs_of(run, model, test.signal.input));
  return results;
}

Json traces(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model) {
  Json signals = Json::array();
  const tasks::ExampleSource source(task, static_cast<std::uint64_t>(run.train.integer("data_seed")),
                                    tasks::Split::test);
  for (std::int64_t i = 0; i < run.test.integer("traces"); ++i) {
    tasks::Example example(run.shape);
    source.write(static_cast<std::uint64_t>(i), example.view());
    signals.push_back(trace(run, model, fmt::format("test {}", i), {example.signal, example.targets}));
  }
  if (run.test.flag("phases"))
    for (const tasks::PhaseTest& test : tasks::phase_tests(config::timing_of(run.task)))
      signals.push_back(trace(run, model, test.name, test.signal));
  return {{"signals", signals}};
}

}  // namespace mneme::train
