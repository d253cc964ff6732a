#include "inspect/patches.h"

#include <algorithm>

#include "core/error.h"

namespace mneme::inspect {
namespace {

using models::Place;
using models::Site;
using torch::Tensor;

class Recorder : public models::Watcher {
 public:
  Tensor visit(const Site& site, const Tensor& x) override {
    values.emplace_back(site, x);
    return x;
  }
  std::vector<std::pair<Site, Tensor>> values;
};

class Replacement : public models::Watcher {
 public:
  Replacement(const Site& site, Tensor where, Tensor values)
      : site_(site), where_(std::move(where)), values_(std::move(values)) {}
  Tensor visit(const Site& site, const Tensor& x) override {
    return site == site_ ? torch::where(where_.unsqueeze(2), values_, x) : x;
  }

 private:
  Site site_;
  Tensor where_, values_;  // [N, L], [N, L, D]
};

Tensor hidden_of(models::SequenceModel& model, const Tensor& tokens, models::Watcher* watcher) {
  nn::Pass pass = nn::Pass::evaluation();
  return model.hidden(tokens, pass, watcher);
}

// The rows of [N, L, D] at one position an example: [N, D].
Tensor rows_at(const Tensor& x, const std::vector<std::int64_t>& positions) {
  return x.flatten(0, 1).index_select(0, torch::arange(x.size(0)) * x.size(1) + torch::tensor(positions));
}

}  // namespace

Tensor Patches::answer_probabilities(const Tensor& at_query) {
  const Tensor p = torch::softmax(model_.read_out(at_query).to(torch::kFloat64), 1);
  return p.gather(1, torch::tensor(cases_.answers).unsqueeze(1)).squeeze(1);
}

Tensor Patches::probabilities(const Tensor& tokens) {
  return answer_probabilities(rows_at(hidden_of(model_, tokens, nullptr), cases_.query));
}

const Tensor& Patches::recorded(Recording& recording, const Tensor& tokens, const Site& site) {
  if (!recording.tokens.defined() || !recording.tokens.is_same(tokens)) {
    Recorder recorder;
    const Tensor h = hidden_of(model_, tokens, &recorder);
    recording = {tokens, answer_probabilities(rows_at(h, cases_.query)), std::move(recorder.values)};
  }
  for (const auto& [where, x] : recording.values)
    if (where == site) return x;
  throw Error(ErrorKind::internal, "inspect/patches.cpp", "a site that the model does not have");
}

std::vector<Site> Patches::sites() {
  recorded(clean_, cases_.tokens, {0, Place::block_input});
  std::vector<Site> list;
  for (const auto& [site, x] : clean_.values) list.push_back(site);
  return list;
}

Tensor Patches::patched(const Tensor& corrupted, const Site& site, Kind kind) {
  const Tensor& where = cases_.positions(kind);
  if (!where.any().item<bool>()) return {};
  const Tensor &clean = recorded(clean_, cases_.tokens, site), &corrupt = recorded(corrupt_, corrupted, site);
  // Nothing differs there, as before the first mixer at every position but the corrupted one: nothing to run.
  if (torch::equal(clean.index({where}), corrupt.index({where}))) return corrupt_.probabilities;
  Replacement replacement(site, where, clean);
  return answer_probabilities(rows_at(hidden_of(model_, corrupted, &replacement), cases_.query));
}

std::vector<Patches::StatePart> Patches::state_parts() const {
  std::vector<StatePart> parts;
  if (!model_.has_step()) return parts;
  const auto mixers = model_.mixers();
  const models::ModelState state = model_.initial_state(1);
  for (std::size_t i = 0; i < mixers.size(); ++i)
    for (const bool window : {false, true}) {
      StatePart part{i, mixers[i].layer, mixers[i].is_sequence, window, {}};
      for (std::size_t j = 0; j < state.mixers[i].tensors.size(); ++j)
        if (mixers[i].mixer->is_window(j) == window) part.tensors.push_back(j);
      if (!part.tensors.empty()) parts.push_back(part);
    }
  return parts;
}

std::array<Tensor, 3> Patches::patched_states(const Tensor& corrupted, const StatePart& part) {
  const std::int64_t N = cases_.count(), last = *std::max_element(cases_.query.begin(), cases_.query.end());
  // Four groups of N sequences: the clean ones, and the corrupted ones to be patched at the key, value and query.
  const Tensor tokens = torch::cat({cases_.tokens, corrupted, corrupted, corrupted});
  const std::array<const std::vector<std::int64_t>*, 3> places = {&cases_.key, &cases_.value, &cases_.query};
  models::ModelState state = model_.initial_state(4 * N);
  const auto patch = [&](std::size_t kind, std::int64_t t) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < N; ++i)
      if ((*places[kind])[static_cast<std::size_t>(i)] == t) rows.push_back(i);
    if (rows.empty()) return;
    const Tensor from = torch::tensor(rows), to = from + N * static_cast<std::int64_t>(kind + 1);
    for (const std::size_t j : part.tensors) {
      Tensor& tensor = state.mixers[part.mixer].tensors[j];
      tensor = tensor.index_copy(0, to, tensor.index_select(0, from));
    }
  };
  std::vector<Tensor> at_query(static_cast<std::size_t>(3 * N));
  for (std::int64_t t = 0; t <= last; ++t) {
    patch(2, t);
    const Tensor h = model_.step(state, tokens.select(1, t));  // [4N, D]
    patch(0, t);
    patch(1, t);
    for (std::int64_t i = 0; i < N; ++i)
      if (cases_.query[static_cast<std::size_t>(i)] == t)
        for (std::int64_t kind = 0; kind < 3; ++kind)
          at_query[static_cast<std::size_t>(kind * N + i)] = h[(kind + 1) * N + i];
  }
  std::array<Tensor, 3> result;
  for (std::size_t kind = 0; kind < 3; ++kind) {
    const auto first = at_query.begin() + static_cast<std::ptrdiff_t>(kind) * N;
    result[kind] = answer_probabilities(torch::stack(std::vector<Tensor>(first, first + N)));
  }
  return result;
}

std::string place_name(Place place) {
  constexpr const char* kNames[] = {"block input", "mixer input", "mixer output",
                                    "MLP input",   "MLP output",  "block output"};
  return kNames[static_cast<std::size_t>(place)];
}

std::string place_name(const Patches::StatePart& part) {
  if (!part.is_sequence) return "MLP's state";
  return part.is_window ? "convolution's state" : "state";
}

}  // namespace mneme::inspect
