#include "inspect/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/patches.h"

namespace mneme::inspect {
namespace {

using models::Place;

class Evidence {
 public:
  explicit Evidence(const KeyEvidence& evidence) : evidence_(evidence) {}

  // What leaves a layer is what the next one reads.
  std::optional<double> output(std::int64_t layer, Kind kind) const {
    return layer + 1 < evidence_.layers ? mean(layer + 1, place_name(Place::block_input), kind)
                                        : mean(layer, place_name(Place::block_output), kind);
  }
  std::optional<double> mean(std::int64_t layer, const std::string& place, Kind kind) const {
    for (const AttributionCell& cell : evidence_.cells)
      if (cell.layer == layer && cell.place == place && cell.kind == kind) return cell.found.mean;
    return std::nullopt;
  }
  bool carries(std::int64_t layer, Kind kind) const { return output(layer, kind).value_or(0) >= kCarries; }
  // The first layer before `end` that carries; -1: none.
  std::int64_t first_carrier(Kind kind, std::int64_t end) const {
    for (std::int64_t layer = 0; layer < end; ++layer)
      if (carries(layer, kind)) return layer;
    return -1;
  }

 private:
  const KeyEvidence& evidence_;
};

// Without the sign of what rounds to zero.
std::string share(double mean) {
  const std::string text = fmt::format("{:.2f}", mean);
  return text == "-0.00" ? "0.00" : text;
}

// How the layer that answers binds key and value, if it has a state.
std::string binding(const Evidence& evidence, std::int64_t layer) {
  const Patches::StatePart recurrence{0, layer, true, false, {}}, window{0, layer, true, true, {}};
  const auto after_key = evidence.mean(layer, place_name(recurrence), Kind::key),
             after_value = evidence.mean(layer, place_name(recurrence), Kind::value),
             window_after_key = evidence.mean(layer, place_name(window), Kind::key),
             window_after_value = evidence.mean(layer, place_name(window), Kind::value);
  if (!after_key || !after_value) return "";
  std::string numbers =
      fmt::format("state after the key {}, after the value {}", share(*after_key), share(*after_value));
  if (window_after_key && window_after_value)
    numbers += fmt::format("; convolution's state after the key {}, after the value {}", share(*window_after_key),
                           share(*window_after_value));
  const std::string how = [&] {
    if (*after_key >= kCarries) return "Its state has the key before the value is read";
    if (*after_value >= kCarries)
      return window_after_key.value_or(0) >= kCarries
                 ? "Its convolution takes the key to the value, where both enter the state"
                 : "Key and value enter its state together, at the value";
    if (window_after_value.value_or(0) >= kCarries)
      return "Key and value enter its state after the value, out of the convolution's window";
    return "Neither its state nor a convolution carries the key after the value";
  }();
  return fmt::format("{}: {}.", how, numbers);
}

}  // namespace

std::optional<Attribution> attribution(const torch::Tensor& clean, const torch::Tensor& corrupt,
                                       const torch::Tensor& patched) {
  const torch::Tensor effect = clean - corrupt, kept = effect > kLeastEffect;
  const torch::Tensor shares = ((patched - corrupt) / effect).index({kept});
  const std::int64_t n = shares.numel();
  if (n == 0) return std::nullopt;
  const double error = n > 1 ? shares.std(true).item<double>() / std::sqrt(static_cast<double>(n)) : 0.0;
  return Attribution{shares.mean().item<double>(), error, n};
}

Verdict recall_verdict(const KeyEvidence& given) {
  const Evidence evidence(given);
  if (given.kept < std::max(kLeastKept, given.examples / 10))
    return {"nothing",
            {fmt::format("Nothing found: replacing the key lowers the answer's probability by more than {} in {} of "
                         "{} examples.",
                         kLeastEffect, given.kept, given.examples)}};
  const std::int64_t read = evidence.first_carrier(Kind::query, given.layers);
  if (read < 0)
    return {"undecided",
            {fmt::format("Undecided: no layer's output at the query carries the key; after the last it is {}.",
                         share(evidence.output(given.layers - 1, Kind::query).value_or(0)))}};
  Verdict verdict;
  const std::string at_query = share(*evidence.output(read, Kind::query));
  if (const std::int64_t bound = evidence.first_carrier(Kind::value, read); bound >= 0) {
    verdict = {"induction",
               {fmt::format("Induction in layer {}: layer {} takes the key to the position of its value ({}), and "
                            "layer {} finds it from the query ({}).",
                            read, bound, share(*evidence.output(bound, Kind::value)), read, at_query)}};
  } else {
    for (const Kind kind : {Kind::other, Kind::filler})
      if (const std::int64_t via = evidence.first_carrier(kind, read); via >= 0) {
        verdict = {"detour",
                   {fmt::format("By a detour: layer {} takes the key to {} ({}), layer {} from there to the query "
                                "({}).",
                                via, kind_name(kind), share(*evidence.output(via, kind)), read, at_query)}};
        break;
      }
    if (verdict.name.empty())
      verdict = {"direct",
                 {fmt::format(
                     "Direct retrieval in layer {}: the key reaches the query ({}) without being stored at "
                     "its value by an earlier layer{}.",
                     read, at_query,
                     read > 0 ? fmt::format(" ({})", share(evidence.output(read - 1, Kind::value).value_or(0))) : "")}};
  }
  if (std::string sentence = binding(evidence, read); !sentence.empty()) verdict.sentences.push_back(sentence);
  return verdict;
}

}  // namespace mneme::inspect
