#include "core/autopsy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/error.h"
#include "core/json.h"

namespace mneme {
namespace {

constexpr std::size_t kLeastSteps = 4, kLeastValues = 3;
constexpr double kFactor = 4, kDeviations = 6;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One number per step, as it is compared: the larger, the worse.
struct Series {
  std::string group, quantity;
  std::function<double(const TraceStep&)> value;
  // From a value to what is compared, and back: a factor near 1 counts by its distance from 1.
  bool is_largest_decay = false;
};

double compared(const Series& series, double value) { return series.is_largest_decay ? 1 / -std::log(value) : value; }
double shown(const Series& series, double compared) {
  return series.is_largest_decay ? std::exp(-1 / compared) : compared;
}

std::vector<Series> series_of(const TrainingTrace& trace) {
  std::vector<Series> all;
  for (std::size_t g = 0; g < trace.groups.size(); ++g) {
    all.push_back({trace.groups[g], "gradient_norm", [g](const TraceStep& s) { return s.gradient_norm[g]; }});
    all.push_back({trace.groups[g], "update_ratio", [g](const TraceStep& s) { return s.update_ratio[g]; }});
  }
  all.push_back({"", "loss", [](const TraceStep& s) { return s.loss; }});
  all.push_back({"", "largest_logit", [](const TraceStep& s) { return s.largest_logit; }});
  all.push_back({"", "largest_decay", [](const TraceStep& s) { return s.largest_decay; }, true});
  // A small factor is a large rate.
  all.push_back({"", "smallest_decay", [](const TraceStep& s) { return s.smallest_decay; }});
  return all;
}

std::optional<Departure> first_departure(const Series& series, const std::vector<TraceStep>& steps) {
  const bool small_decay = series.quantity == "smallest_decay";
  const auto measure = [&](const TraceStep& step) {
    const double value = series.value(step);
    return small_decay ? -std::log(value) : compared(series, value);
  };
  const auto back = [&](double value) { return small_decay ? std::exp(-value) : shown(series, value); };
  const std::size_t older = std::max<std::size_t>(steps.size() / 2, kLeastValues);
  std::vector<double> logs;
  for (std::size_t i = 0; i < older; ++i)
    if (const double value = measure(steps[i]); std::isfinite(value) && value > 0) logs.push_back(std::log(value));
  if (logs.size() < kLeastValues) return std::nullopt;
  const double centre = median(logs);
  for (double& value : logs) value = std::abs(value - centre);
  const double half = std::max(std::log(kFactor), kDeviations * median(logs));
  for (std::size_t i = older; i < steps.size(); ++i) {
    const double value = measure(steps[i]);
    const bool finite = std::isfinite(value);
    if (finite && (value <= 0 || std::log(value) <= centre + half)) continue;
    double low = back(std::exp(centre - half)), high = back(std::exp(centre + half));
    if (low > high) std::swap(low, high);
    return Departure{series.group,
                     series.quantity,
                     steps[i].step,
                     series.value(steps[i]),
                     low,
                     high,
                     finite ? (std::log(value) - centre) / half : std::numeric_limits<double>::infinity()};
  }
  return std::nullopt;
}

std::string words(std::string quantity) {
  std::replace(quantity.begin(), quantity.end(), '_', ' ');
  return quantity == "update ratio" ? "|dw|/|w|" : quantity;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  return std::isinf(value) ? "infinite" : fmt::format("{:.3g}", value);
}

std::string told(const Departure& one, const char* did) {
  return fmt::format("{} {} step {}: {} {}, expected {} to {}",
                     one.group.empty() ? "the " + words(one.quantity) : one.group, did, one.step, words(one.quantity),
                     number(one.value), number(one.low), number(one.high));
}

template <typename T>
TensorView keep(std::vector<std::vector<std::byte>>& memory, const char* dtype, std::vector<std::int64_t> shape,
                const std::vector<T>& values) {
  auto& bytes = memory.emplace_back(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {dtype, std::move(shape), bytes};
}

template <typename T>
std::vector<T> numbers(const std::map<std::string, TensorView>& tensors, const std::string& name, const char* dtype,
                       const std::vector<std::int64_t>& shape, std::string_view where) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.dtype != dtype || found->second.shape != shape)
    throw Error(ErrorKind::data, where, fmt::format("no tensor '{}' of the shape of a trace", name));
  std::vector<T> values(found->second.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
  return values;
}

constexpr const char* kFormat = "mneme-autopsy-1";
constexpr std::pair<const char*, float TraceStep::*> kScalars[] = {{"loss", &TraceStep::loss},
                                                                   {"largest_logit", &TraceStep::largest_logit},
                                                                   {"smallest_decay", &TraceStep::smallest_decay},
                                                                   {"largest_decay", &TraceStep::largest_decay}};
constexpr std::pair<const char*, std::vector<float> TraceStep::*> kVectors[] = {
    {"gradient_norm", &TraceStep::gradient_norm}, {"update_ratio", &TraceStep::update_ratio}};

}  // namespace

void TrainingTrace::add(TraceStep step) {
  require(step.gradient_norm.size() == groups.size() && step.update_ratio.size() == groups.size(), "a value a group");
  if (steps.size() == kTraceSteps) steps.erase(steps.begin());
  steps.push_back(std::move(step));
}

std::map<std::string, TensorView> TrainingTrace::tensors(std::vector<std::vector<std::byte>>& memory) const {
  const auto S = static_cast<std::int64_t>(steps.size()), G = static_cast<std::int64_t>(groups.size());
  std::map<std::string, TensorView> result;
  memory.reserve(memory.size() + 1 + std::size(kScalars) + std::size(kVectors));
  std::vector<std::int64_t> numbers;
  for (const TraceStep& step : steps) numbers.push_back(step.step);
  result["step"] = keep(memory, "I64", {S}, numbers);
  for (const auto& [name, member] : kScalars) {
    std::vector<float> values;
    for (const TraceStep& step : steps) values.push_back(step.*member);
    result[name] = keep(memory, "F32", {S}, values);
  }
  for (const auto& [name, member] : kVectors) {
    std::vector<float> values;
    for (const TraceStep& step : steps) values.insert(values.end(), (step.*member).begin(), (step.*member).end());
    result[name] = keep(memory, "F32", {S, G}, values);
  }
  return result;
}

TrainingTrace TrainingTrace::from_tensors(const std::map<std::string, TensorView>& tensors, const std::string& prefix,
                                          std::vector<std::string> groups, std::string_view where) {
  const auto length = tensors.find(prefix + "step");
  if (length == tensors.end() || length->second.shape.size() != 1)
    throw Error(ErrorKind::data, where, "no steps of a trace");
  const std::int64_t S = length->second.shape[0], G = static_cast<std::int64_t>(groups.size());
  TrainingTrace trace{std::move(groups), std::vector<TraceStep>(static_cast<std::size_t>(S))};
  const auto steps = numbers<std::int64_t>(tensors, prefix + "step", "I64", {S}, where);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].step = steps[i];
  for (const auto& [name, member] : kScalars) {
    const auto values = numbers<float>(tensors, prefix + name, "F32", {S}, where);
    for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].*member = values[i];
  }
  for (const auto& [name, member] : kVectors) {
    const auto values = numbers<float>(tensors, prefix + name, "F32", {S, G}, where);
    for (std::int64_t i = 0; i < S; ++i)
      (trace.steps[static_cast<std::size_t>(i)].*member).assign(values.begin() + i * G, values.begin() + (i + 1) * G);
  }
  return trace;
}

void save_autopsy(const Path& path, const TrainingTrace& trace, const std::string& run, const Commit& commit) {
  std::vector<std::vector<std::byte>> memory;
  save_sealed_safetensors(path, trace.tensors(memory),
                          {{"format", kFormat}, {"run", run}, {"groups", canonical(Json(trace.groups))}}, commit);
}

TrainingTrace load_autopsy(const Path& path) {
  const Safetensors file = Safetensors::load_sealed(path);
  const auto format = file.metadata().find("format"), groups = file.metadata().find("groups");
  if (format == file.metadata().end() || format->second != kFormat || groups == file.metadata().end())
    throw Error(ErrorKind::data, path.string(), "not the trace of a run's last steps");
  return TrainingTrace::from_tensors(
      file.tensors(), "", parse_json(groups->second, path.string()).get<std::vector<std::string>>(), path.string());
}

std::vector<Departure> departures(const TrainingTrace& trace) {
  std::vector<Departure> found;
  if (trace.steps.size() < kLeastSteps) return found;
  for (const Series& series : series_of(trace))
    if (auto departure = first_departure(series, trace.steps)) found.push_back(std::move(*departure));
  // A loss that is not finite says that it is over, not where it began.
  const auto rank = [](const Departure& d) { return d.group.empty() && std::isinf(d.excess); };
  std::stable_sort(found.begin(), found.end(), [&](const Departure& a, const Departure& b) {
    if (a.step != b.step) return a.step < b.step;
    if (rank(a) != rank(b)) return rank(b);
    return a.excess > b.excess;
  });
  return found;
}

std::string autopsy_sentence(const TrainingTrace& trace) {
  if (trace.steps.size() < kLeastSteps)
    return fmt::format("only {} steps were recorded: too few to say what left its band", trace.steps.size());
  const std::vector<Departure> found = departures(trace);
  if (found.empty()) return fmt::format("nothing left its band in the last {} steps", trace.steps.size());
  const std::string sentence = told(found.front(), "left its band first, at");
  if (!found.front().group.empty()) return sentence;
  const auto group = std::find_if(found.begin(), found.end(), [](const Departure& one) { return !one.group.empty(); });
  return group == found.end() ? sentence + "; no group of parameters left its band"
                              : sentence + "; of the groups of parameters " + told(*group, "was the first, at");
}

}  // namespace mneme
