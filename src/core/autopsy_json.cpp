#include <cmath>

#include "core/autopsy.h"

namespace mneme {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

template <class Value>
Json series(const TrainingTrace& trace, const Value& value) {
  Json numbers = Json::array();
  for (const TraceStep& step : trace.steps) numbers.push_back(finite(value(step)));
  return numbers;
}

}  // namespace

Json autopsy_json(const TrainingTrace& trace) {
  Json steps = Json::array(), groups = Json::array(), found = Json::array();
  for (const TraceStep& step : trace.steps) steps.push_back(step.step);
  for (std::size_t g = 0; g < trace.groups.size(); ++g)
    groups.push_back({{"name", trace.groups[g]},
                      {"gradient_norm", series(trace, [g](const TraceStep& s) { return s.gradient_norm[g]; })},
                      {"update_ratio", series(trace, [g](const TraceStep& s) { return s.update_ratio[g]; })}});
  for (const Departure& one : departures(trace))
    found.push_back({{"group", one.group},
                     {"quantity", one.quantity},
                     {"step", one.step},
                     {"value", finite(one.value)},
                     {"low", finite(one.low)},
                     {"high", finite(one.high)}});
  return {{"steps", steps},
          {"sentence", autopsy_sentence(trace)},
          {"departures", found},
          {"groups", groups},
          {"model",
           {{"loss", series(trace, [](const TraceStep& s) { return s.loss; })},
            {"largest_logit", series(trace, [](const TraceStep& s) { return s.largest_logit; })},
            {"smallest_decay", series(trace, [](const TraceStep& s) { return s.smallest_decay; })},
            {"largest_decay", series(trace, [](const TraceStep& s) { return s.largest_decay; })}}}};
}

}  // namespace mneme
