#include "inspect/pair_sequences.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/random.h"

namespace mneme::inspect {
namespace {

// Enough to meet most tokens of a vocabulary of a few hundred.
constexpr std::int64_t kExamplesForTokens = 256;

bool has(const std::vector<std::int32_t>& list, std::int32_t token) {
  return std::find(list.begin(), list.end(), token) != list.end();
}

// True of a model that reads sequences of any length with a state that does not grow.
bool reaches_further(const Subject& subject) {
  const torch::NoGradGuard guard;
  models::ModelState state = subject.model().initial_state(1);
  const std::int64_t before = state.size();
  subject.model().step(state, subject.examples(1).input.select(1, 0));
  return state.size() == before && subject.run().model.text("positions") != "learned";
}

}  // namespace

std::string why_no_pairs(const Subject& subject, const Examples& examples) {
  const auto is_pair = [&](const std::vector<tasks::Role>& roles) {
    return roles.size() >= 2 && roles[0] == tasks::Role::key && roles[1] == tasks::Role::value;
  };
  if (!subject.run().shape.is_signal() && !examples.roles.empty() && is_pair(examples.roles.front())) return "";
  return fmt::format(
      "the sequences of {} do not begin with pairs of a key and a value (those of mqar, forgetting_mqar and "
      "ar do)",
      subject.run().task_entry->name);
}

PairTokens pair_tokens(const Subject& subject, std::int64_t keys, std::int64_t values) {
  const std::int64_t fitting = reaches_further(subject) ? keys : std::min(keys, (subject.run().shape.length - 1) / 2);
  const Examples examples = subject.examples(kExamplesForTokens);
  PairTokens found;
  const auto collect = [&](tasks::Role role, std::vector<std::int32_t>& into, std::int64_t most,
                           const std::vector<std::int32_t>& without) {
    for (std::size_t i = 0; i < examples.examples.size(); ++i)
      for (std::size_t t = 0; t < examples.roles[i].size(); ++t) {
        const std::int32_t token = examples.examples[i].tokens[t];
        if (examples.roles[i][t] != role || has(into, token) || has(without, token)) continue;
        if (static_cast<std::int64_t>(into.size()) < most) into.push_back(token);
      }
  };
  collect(tasks::Role::value, found.values, values, {});
  collect(tasks::Role::key, found.keys, fitting, found.values);
  return found;
}

PairSequences pair_sequences(const PairTokens& tokens, std::int64_t count, std::uint64_t key) {
  const auto P = static_cast<std::int64_t>(tokens.keys.size());
  PairSequences made{torch::zeros({count, 2 * P}, torch::kInt32), torch::zeros({count, P}, torch::kInt64)};
  auto token = made.tokens.accessor<std::int32_t, 2>();
  auto label = made.labels.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < count; ++i) {
    Random random(key, static_cast<std::uint64_t>(i));
    for (std::int64_t p = 0; p < P; ++p) {
      const std::uint32_t pick = random.below(static_cast<std::uint32_t>(tokens.values.size()));
      token[i][2 * p] = tokens.keys[static_cast<std::size_t>(p)];
      token[i][2 * p + 1] = tokens.values[pick];
      label[i][p] = pick;
    }
  }
  return made;
}

torch::Tensor one_value_changed(const PairTokens& tokens, const torch::Tensor& base) {
  const auto P = static_cast<std::int64_t>(tokens.keys.size());
  torch::Tensor changed = base[0].expand({2 * P, 2 * P}).clone();
  for (std::int64_t p = 0; p < P; ++p)
    for (std::int64_t which : {0, 1})
      changed[2 * p + which][2 * p + 1] = tokens.values[static_cast<std::size_t>(which)];
  return changed;
}

}  // namespace mneme::inspect
