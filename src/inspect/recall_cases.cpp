#include "inspect/recall_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace mneme::inspect {
namespace {

using tasks::Role;

bool is_of_a_pair(Role role) { return role == Role::key || role == Role::value || role == Role::query; }

// Queries whose answer is the value after one key.
std::vector<std::int64_t> queries_of(const Examples& examples, std::size_t i) {
  std::vector<std::int64_t> queries;
  const auto& roles = examples.roles[i];
  const auto& sources = examples.sources[i];
  for (std::size_t t = 0; t < sources.size(); ++t) {
    if (sources[t] < 0 || roles[t] != Role::query) continue;
    const auto key = static_cast<std::size_t>(sources[t]);
    if (roles[key] == Role::key && key + 1 < roles.size() && roles[key + 1] == Role::value)
      queries.push_back(static_cast<std::int64_t>(t));
  }
  return queries;
}

Kind kind_of(const RecallCases& cases, std::size_t i, std::int64_t t, Role role) {
  if (t == cases.key[i]) return Kind::key;
  if (t == cases.value[i]) return Kind::value;
  if (t == cases.query[i]) return Kind::query;
  return is_of_a_pair(role) ? Kind::other : Kind::filler;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[] = {"key", "value", "query", "other pairs", "filler"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string why_no_recall(const Subject& subject, const Examples& examples) {
  if (subject.run().shape.is_signal()) return "the task is a signal: it has no keys, values and queries";
  for (std::size_t i = 0; i < examples.examples.size(); ++i)
    if (queries_of(examples, i).empty())
      return fmt::format(
          "the task {} has no keys, values and queries: its answers are not the value after one key "
          "(tasks that have them: mqar, forgetting_mqar, compositional_mqar, ar, induction)",
          subject.run().task_entry->name);
  return "";
}

RecallCases recall_cases(const Examples& examples) {
  const auto N = examples.examples.size();
  RecallCases cases;
  cases.tokens = examples.input;
  for (std::size_t i = 0; i < N; ++i) {
    const auto queries = queries_of(examples, i);
    require(!queries.empty(), "an example with a query");
    cases.query.push_back(queries[i % queries.size()]);
    const auto query = static_cast<std::size_t>(cases.query.back());
    cases.key.push_back(examples.sources[i][query]);
    cases.value.push_back(cases.key.back() + 1);
    cases.answers.push_back(examples.examples[i].labels[query]);
  }
  for (torch::Tensor& mask : cases.at) mask = torch::zeros(cases.tokens.sizes(), torch::kBool);
  for (std::size_t i = 0; i < N; ++i)
    for (std::int64_t t = 0; t < examples.length(); ++t) {
      const Kind kind = kind_of(cases, i, t, examples.roles[i][static_cast<std::size_t>(t)]);
      cases.at[static_cast<std::size_t>(kind)][static_cast<std::int64_t>(i)][t] = true;
    }
  return cases;
}

torch::Tensor RecallCases::corrupted(Kind kind) const {
  require(kind == Kind::key || kind == Kind::value, "a token of the pair");
  const std::vector<std::int64_t>& places = kind == Kind::key ? key : value;
  const auto token = tokens.accessor<std::int32_t, 2>();
  const std::int64_t N = count(), L = tokens.size(1);
  const auto occurs = [&](std::int64_t i, std::int32_t wanted) {
    for (std::int64_t t = 0; t < L; ++t)
      if (token[i][t] == wanted) return true;
    return false;
  };
  torch::Tensor changed = tokens.clone();
  for (std::int64_t i = 0; i < N; ++i) {
    const std::int64_t place = places[static_cast<std::size_t>(i)];
    std::int32_t chosen = -1;
    for (std::int64_t j = 1; j < N && chosen < 0; ++j) {
      const std::int64_t other = (i + j) % N;
      const std::int32_t candidate = token[other][places[static_cast<std::size_t>(other)]];
      if (!occurs(i, candidate)) chosen = candidate;
    }
    // Every key is this one: a filler is none.
    for (std::int64_t t = 0; t < L && chosen < 0; ++t)
      if (positions(Kind::filler)[i][t].item<bool>() && token[i][t] != token[i][place]) chosen = token[i][t];
    if (chosen < 0) return {};
    changed[i][place] = chosen;
  }
  return changed;
}

}  // namespace mneme::inspect
