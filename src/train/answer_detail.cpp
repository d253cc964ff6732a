#include "train/answer_detail.h"

#include <algorithm>

#include "tasks/copy.h"

namespace mneme::train {
namespace {

constexpr std::int64_t kMostBins = 128;

Json bin_json(std::int64_t from, std::int64_t to, const tasks::Share& share) {
  return {{"from", from}, {"to", to}, {"accuracy", share.value()}, {"labelled", share.of}};
}

// Of the one task whose answers are strings.
std::int32_t stop_label_of(const config::RunConfig& run) {
  return run.task_entry->name == "copy" ? tasks::copy_stop_label(run.task) : tasks::kUnlabelled;
}

}  // namespace

AnswerDetail::AnswerDetail(const config::RunConfig& run, const tasks::Task& task)
    : run_(run), task_(task), strings_(stop_label_of(run)) {}

bool AnswerDetail::listed(std::string_view metric) const {
  const auto& metrics = run_.task_entry->metrics;
  return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
}

void AnswerDetail::add(std::span<std::int32_t> tokens, std::span<std::int32_t> labels,
                       std::span<const std::int32_t> predictions) {
  if (listed("accuracy_by_position")) tokens_.add(predictions, labels);
  if (listed("string_accuracy")) strings_.add(predictions, labels);
  if (!listed("accuracy_by_distance")) return;
  const std::vector<std::int32_t> sources =
      task_.sources({.tokens = tokens, .labels = labels, .signal = {}, .targets = {}});
  if (!sources.empty()) distances_.add(predictions, labels, sources);
}

Json AnswerDetail::by_position() const {
  const std::vector<tasks::Share>& positions = tokens_.by_position();
  const auto length = static_cast<std::int64_t>(positions.size());
  const std::int64_t width = std::max<std::int64_t>(1, (length + kMostBins - 1) / kMostBins);
  Json bins = Json::array();
  for (std::int64_t from = 0; from < length; from += width) {
    const std::int64_t to = std::min(from + width, length);
    tasks::Share share;
    for (std::int64_t t = from; t < to; ++t) {
      share.right += positions[static_cast<std::size_t>(t)].right;
      share.of += positions[static_cast<std::size_t>(t)].of;
    }
    if (share.of > 0) bins.push_back(bin_json(from, to, share));
  }
  return bins;
}

Json AnswerDetail::json() const {
  Json values = Json::object();
  if (listed("accuracy_by_position")) values["accuracy_by_position"] = by_position();
  if (listed("accuracy_by_distance")) {
    Json& bins = values["accuracy_by_distance"] = Json::array();
    for (const tasks::DistanceScore::Bin& bin : distances_.bins())
      bins.push_back(bin_json(bin.from, bin.to, bin.share));
  }
  if (listed("string_accuracy")) values["string_accuracy"] = strings_.string_accuracy();
  if (listed("character_accuracy")) values["character_accuracy"] = strings_.character_accuracy();
  return values;
}

}  // namespace mneme::train
