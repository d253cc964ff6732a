#include "inspect/state_probes.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "inspect/list.h"

namespace mneme::inspect {
namespace {

using torch::Tensor;

constexpr std::int64_t kMostPairs = 32;
constexpr std::int64_t kValues = 8;      // that a probe tells apart: 3 bits
constexpr std::int64_t kAskedRows = 64;  // sequences in which the model itself is asked
constexpr std::uint64_t kSequences = 0x70616972, kShuffles = 0x73687566;  // names of the streams of random numbers

// Rows [first, first + count) of what a mixer carries, flattened: [count, S].
Tensor carried(const models::LayerMixer& mixer, const mixers::MixerState& state, std::int64_t first,
               std::int64_t count) {
  std::vector<Tensor> parts;
  for (std::size_t j = 0; j < state.tensors.size(); ++j)
    if (!mixer.mixer->is_window(j)) parts.push_back(state.tensors[j].narrow(0, first, count).flatten(1));
  return parts.empty() ? Tensor() : torch::cat(parts, 1);
}

// Each column in an order of its own.
Tensor shuffled_rows(const Tensor& labels) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(labels.size(0)));
  std::vector<Tensor> columns;
  for (std::int64_t p = 0; p < labels.size(1); ++p) {
    std::iota(order.begin(), order.end(), 0U);
    shuffled(order, kShuffles, static_cast<std::uint64_t>(p));
    const Tensor index = torch::tensor(std::vector<std::int64_t>(order.begin(), order.end()));
    columns.push_back(labels.select(1, p).index_select(0, index));
  }
  return torch::stack(columns, 1);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Asks for each of the first `pairs` keys with a copy of the state.
double read_accuracy(models::SequenceModel& model, const models::ModelState& state, const PairTokens& tokens,
                     const Tensor& labels, std::int64_t pairs) {
  const std::int64_t rows = std::min(kAskedRows, labels.size(0));
  models::ModelState asked{{}, state.position};
  for (const mixers::MixerState& mixer : state.mixers) {
    mixers::MixerState& copy = asked.mixers.emplace_back();
    for (const Tensor& tensor : mixer.tensors)
      copy.tensors.push_back(tensor.narrow(0, 0, rows).repeat_interleave(pairs, 0));
  }
  const Tensor keys = torch::tensor(std::vector<std::int32_t>(tokens.keys.begin(), tokens.keys.begin() + pairs));
  const Tensor logits = model.read_out(model.step(asked, keys.repeat({rows})));  // [rows * pairs, classes]
  const Tensor values = torch::tensor(std::vector<std::int64_t>(tokens.values.begin(), tokens.values.end()));
  const Tensor said = logits.index_select(1, values).argmax(1).view({rows, pairs});
  return (said == labels.narrow(0, 0, rows).narrow(1, 0, pairs)).to(torch::kFloat64).mean().item<double>();
}

Json curve_of(const StateContents& contents, std::int64_t layer, std::int64_t values) {
  Json curve = Json::array();
  for (const HeldState& held : contents.held) {
    if (held.layer != layer) continue;
    Json by_pair = Json::array();
    double bits = 0;
    for (const double accuracy : held.accuracy) {
      by_pair.push_back(bits_of_accuracy(accuracy, values));
      bits += by_pair.back().get<double>();
    }
    curve.push_back({{"pairs", held.pairs},
                     {"floats", held.floats},
                     {"bits", bits},
                     {"bits_by_pair", by_pair},
                     {"accuracy", mean_of(held.accuracy)},
                     {"shuffled", held.shuffled},
                     {"rank", held.rank},
                     {"interference", held.interference}});
  }
  return curve;
}

}  // namespace

StateContents state_contents(models::SequenceModel& model, const PairTokens& tokens,
                             const std::vector<std::int64_t>& pairs, const ProbeSplit& split) {
  require(model.has_step() && !pairs.empty(), "a model with a state and numbers of pairs");
  const torch::NoGradGuard guard;
  const auto P = static_cast<std::int64_t>(tokens.keys.size()), N = split.rows();
  const auto V = static_cast<std::int64_t>(tokens.values.size());
  const PairSequences sequences = pair_sequences(tokens, N, kSequences);
  const Tensor all = torch::cat({sequences.tokens, one_value_changed(tokens, sequences.tokens)});
  const auto mixers = model.mixers();
  models::ModelState state = model.initial_state(all.size(0));
  StateContents contents;
  for (std::int64_t n = 1; n <= pairs.back(); ++n) {
    for (const std::int64_t t : {2 * n - 2, 2 * n - 1}) model.step(state, all.select(1, t));
    if (std::find(pairs.begin(), pairs.end(), n) == pairs.end()) continue;
    const Tensor labels = sequences.labels.narrow(1, 0, n);
    for (std::size_t i = 0; i < mixers.size(); ++i) {
      if (!mixers[i].is_sequence) continue;
      const Tensor x = carried(mixers[i], state.mixers[i], 0, N);
      // Weights of a run that diverged: there is nothing to fit.
      if (!x.defined() || !x.isfinite().all().item<bool>()) continue;
      // Row p: what a new value of pair p changes.
      const Tensor pairwise = carried(mixers[i], state.mixers[i], N, 2 * P).unflatten(0, {P, 2}).narrow(0, 0, n);
      contents.held.push_back({.layer = mixers[i].layer,
                               .pairs = n,
                               .floats = x.size(1),
                               .accuracy = probe_accuracy(x, labels, V, split),
                               .shuffled = mean_of(probe_accuracy(x, shuffled_rows(labels), V, split)),
                               .rank = effective_rank(x.narrow(0, 0, std::min<std::int64_t>(N, split.test))),
                               .interference = mean_overlap(pairwise.select(1, 1) - pairwise.select(1, 0))});
    }
    contents.read.push_back({n, read_accuracy(model, state, tokens, labels, n)});
  }
  return contents;
}

std::vector<std::int64_t> pair_counts(std::int64_t most, std::int64_t own) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n <= most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  if (own > 0 && own <= most) counts.push_back(own);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Json state_probes(const Subject& subject, const Examples& examples) {
  if (const std::string why = why_no_pairs(subject, examples); !why.empty()) return skipped(why);
  if (!subject.model().has_step())
    return skipped("a mixer of this model has no recurrent form, so there is no state to look at");
  const PairTokens tokens = pair_tokens(subject, kMostPairs, kValues);
  if (tokens.keys.empty() || tokens.values.size() < 2)
    return skipped("the vocabulary has fewer than two values or no key of its own");
  std::int64_t own = 0;  // pairs in a sequence of the task
  for (const tasks::Role role : examples.roles.front()) own += role == tasks::Role::key ? 1 : 0;
  const ProbeSplit split;
  const StateContents contents =
      state_contents(subject.model(), tokens, pair_counts(static_cast<std::int64_t>(tokens.keys.size()), own), split);
  const auto V = static_cast<std::int64_t>(tokens.values.size());
  Json layers = Json::array(), read = Json::array();
  for (const models::LayerMixer& mixer : subject.model().mixers())
    if (Json curve = curve_of(contents, mixer.layer, V); mixer.is_sequence && !curve.empty())
      layers.push_back({{"layer", mixer.layer}, {"mixer", mixer.mixer->name_in_catalog}, {"curve", curve}});
  if (layers.empty()) return skipped("no mixer of this model carries a finite state from token to token");
  for (const ReadBack& one : contents.read)
    read.push_back({{"pairs", one.pairs},
                    {"accuracy", one.accuracy},
                    {"bits", static_cast<double>(one.pairs) * bits_of_accuracy(one.accuracy, V)}});
  return {{"values", V},        {"bits_per_pair", bits_of_accuracy(1.0, V)},
          {"own_pairs", own},   {"train", split.train},
          {"test", split.test}, {"layers", layers},
          {"read", read}};
}

}  // namespace mneme::inspect
