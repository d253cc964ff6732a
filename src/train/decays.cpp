#include "train/decays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace mneme::train {
namespace {

const FlatParameters::Segment* find(const FlatParameters& parameters, const std::string& name) {
  for (const auto& segment : parameters.segments())
    if (segment.name == name) return &segment;
  return nullptr;
}

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

}  // namespace

Decays::Decays(const FlatParameters& parameters) : parameters_(parameters) {
  for (const auto& segment : parameters.segments()) {
    const std::size_t dot = segment.name.rfind('.') + 1;
    const std::string prefix = segment.name.substr(0, dot), name = segment.name.substr(dot);
    const std::int64_t channels = segment.shape.empty() ? 1 : segment.shape[0];
    const auto add = [&](Kind kind, const FlatParameters::Segment* steps) {
      sources_.push_back({kind, segment.offset, channels, segment.size / std::max<std::int64_t>(channels, 1),
                          steps ? steps->offset : -1});
    };
    if (name == "time_decay") add(Kind::rate, nullptr);
    if (name == "decay") add(Kind::sigmoid, nullptr);
    if (name == "log_A_real")
      if (const auto* steps = find(parameters, prefix + "log_dt"); steps && steps->size == channels)
        add(Kind::rate_and_log_step, steps);
    if (name == "A_log")
      for (const char* bias : {"dt_bias", "dt_proj.bias"})
        if (const auto* steps = find(parameters, prefix + bias); steps && steps->size == channels)
          add(Kind::rate_and_bias, steps);
  }
}

std::pair<float, float> Decays::range() const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (sources_.empty()) return {static_cast<float>(kNone), static_cast<float>(kNone)};
  const torch::Tensor host = parameters_.values.cpu();  // no copy if they are there
  const float* weights = host.data_ptr<float>();
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  const auto see = [&](double decay) {
    // Comparisons that are false for NaN, which then stays.
    if (!(decay >= smallest)) smallest = decay;
    if (!(decay <= largest)) largest = decay;
  };
  for (const Source& source : sources_) {
    const float* rates = weights + source.rates;
    for (std::int64_t c = 0; c < source.channels; ++c, rates += source.per_channel) {
      // The decay falls with the rate: the two extreme rates of a channel give its extreme decays.
      const auto [low, high] = std::minmax_element(rates, rates + source.per_channel);
      const double step = source.steps < 0 ? 1
                          : source.kind == Kind::rate_and_bias
                              ? softplus(static_cast<double>(weights[source.steps + c]))
                              : std::exp(static_cast<double>(weights[source.steps + c]));
      for (const float* rate : {low, high})
        see(source.kind == Kind::sigmoid ? 1 / (1 + std::exp(-static_cast<double>(*rate)))
                                         : std::exp(-step * std::exp(static_cast<double>(*rate))));
    }
  }
  return {static_cast<float>(smallest), static_cast<float>(largest)};
}

}  // namespace mneme::train
