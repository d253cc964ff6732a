#include "inspect/patterns.h"

#include <unordered_map>

#include "inspect/list.h"

namespace mneme::inspect {
namespace {

bool is_filler(tasks::Role role) { return role == tasks::Role::filler || role == tasks::Role::padding; }

// The token after the last earlier occurrence of each token.
std::vector<std::int64_t> induction_columns(const Examples& examples, std::size_t example) {
  const std::vector<std::int32_t>& tokens = examples.examples[example].tokens;
  std::vector<std::int64_t> columns(static_cast<std::size_t>(examples.length()), -1);
  std::unordered_map<std::int32_t, std::int64_t> last;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (is_filler(examples.roles[example][t])) continue;
    const auto found = last.find(tokens[t]);
    if (found != last.end() && found->second + 1 < static_cast<std::int64_t>(t)) columns[t] = found->second + 1;
    last[tokens[t]] = static_cast<std::int64_t>(t);
  }
  return columns;
}

// What a head that looks at all earlier tokens alike would score.
PatternScores uniform_scores(const PatternColumns& columns) {
  PatternScores scores;
  for (std::size_t p = 0; p < columns.size(); ++p)
    for (std::size_t t = 0; t < columns[p].size(); ++t)
      if (columns[p][t] >= 0) scores[p].add(1.0 / static_cast<double>(t + 1));
  return scores;
}

Json scores_json(const PatternScores& scores) {
  Json json = Json::object();
  for (std::size_t p = 0; p < scores.size(); ++p) json[kPatterns[p]] = scores[p].json();
  return json;
}

// A row for each head of each matrix of a model.
Json rows_of(const Subject& subject, const Examples& examples) {
  const auto& all = matrices_of(subject, examples);
  Json rows = Json::array();
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    const Mixing& first = all.front()[i];
    for (std::int64_t h = 0; h < first.size.size(0); ++h) {
      PatternScores scores;
      for (std::size_t e = 0; e < all.size(); ++e)
        add_scores(scores, all[e][i].size.select(0, h), pattern_columns(examples, e));
      rows.push_back({{"layer", first.layer},
                      {"module", first.module},
                      {"head", h},
                      {"linear", first.linear},
                      {"convolved", first.convolved},
                      {"scores", scores_json(scores)}});
    }
  }
  return rows;
}

}  // namespace

PatternColumns pattern_columns(const Examples& examples, std::size_t example) {
  const auto L = static_cast<std::size_t>(examples.length());
  PatternColumns columns;
  for (auto& one : columns) one.assign(L, -1);
  for (std::size_t t = 0; t < L; ++t) {
    const auto here = static_cast<std::int64_t>(t);
    if (t > 0) columns[0][t] = here - 1;
    if (t > 0 && examples.roles[example][t] == tasks::Role::value) columns[1][t] = here - 1;
    columns[2][t] = here;
    const Examples::Asked asked = examples.asked(example, here);
    columns[4][t] = asked.value;
    columns[5][t] = asked.key;
  }
  columns[3] = induction_columns(examples, example);
  return columns;
}

void add_scores(PatternScores& scores, const torch::Tensor& size, const PatternColumns& columns) {
  const torch::Tensor entries = size.contiguous();
  const double* data = entries.data_ptr<double>();
  const std::int64_t L = size.size(1);
  for (std::size_t p = 0; p < columns.size(); ++p)
    for (std::size_t t = 0; t < columns[p].size(); ++t) {
      if (columns[p][t] < 0) continue;
      const double* row = data + static_cast<std::int64_t>(t) * L;
      double sum = 0;
      for (std::int64_t s = 0; s < L; ++s) sum += row[s];
      // A row that looks at nothing follows no pattern.
      scores[p].add(sum > 0 ? row[columns[p][t]] / sum : 0.0);
    }
}

Json pattern_scores(const Subject& subject, const Examples& examples) {
  const std::size_t used = matrices_of(subject, examples).size();
  PatternScores uniform;
  Json counts = Json::object();
  for (std::size_t e = 0; e < used; ++e) {
    const PatternScores one = uniform_scores(pattern_columns(examples, e));
    for (std::size_t p = 0; p < one.size(); ++p) {
      uniform[p].sum += one[p].sum;
      uniform[p].rows += one[p].rows;
    }
  }
  for (std::size_t p = 0; p < uniform.size(); ++p) counts[kPatterns[p]] = uniform[p].rows;
  Json steps = Json::array();
  for (const std::int64_t step : subject.kept_steps())
    steps.push_back({{"step", step}, {"rows", rows_of(subject.at_step(step), examples)}});
  steps.push_back({{"step", subject.step()}, {"rows", rows_of(subject, examples)}});
  return {{"examples", used}, {"uniform", scores_json(uniform)}, {"counts", counts}, {"steps", steps}};
}

}  // namespace mneme::inspect
