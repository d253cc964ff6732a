#include "report/claims/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"

namespace mneme::report {
namespace {

// "6,000 steps of 128", or nothing if the runs differ.
std::string budget_text(const std::vector<ResultRow>& rows) {
  std::set<std::pair<std::int64_t, Json>> budgets;
  for (const ResultRow& row : rows)
    if (const Json* batch = config_value(row, "train.batch")) budgets.insert({budget_steps(row), *batch});
  if (budgets.empty()) return "";
  if (budgets.size() > 1) return fmt::format("up to {} steps", grouped(budgets.rbegin()->first));
  return fmt::format("{} steps of {}", grouped(budgets.begin()->first), budgets.begin()->second.dump());
}

std::string size_of(const Evidence& evidence) {
  std::vector<ResultRow> rows;
  for (const ResultRow* row : evidence.read()) rows.emplace_back().config = row->config;
  if (rows.empty()) return "";
  const std::string budget = budget_text(rows);
  return setup_line(rows) + (budget.empty() ? "" : "; " + budget);
}

}  // namespace

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed: return "confirmed";
    case Verdict::contradicted: return "contradicted";
    case Verdict::undecided: return "undecided";
    case Verdict::not_run: break;
  }
  return "not run";
}

std::string Judgement::verdict_text() const {
  return reason.empty() ? verdict_name(verdict) : fmt::format("{}: {}", verdict_name(verdict), reason);
}

const std::vector<Claim>& claim_list() {
  static const std::vector<Claim> list = [] {
    std::vector<Claim> claims;
    for (const auto part :
         {window_claims, scaling_claims, ablation_claims, tracking_claims, copying_claims, counting_claims})
      for (Claim& claim : part()) claims.push_back(std::move(claim));
    return claims;
  }();
  return list;
}

std::vector<const Claim*> claims_about(std::string_view study) {
  std::vector<const Claim*> claims;
  for (const Claim& claim : claim_list())
    if (claim.study == study) claims.push_back(&claim);
  return claims;
}

std::vector<ResultRow> with_planned(std::span<const ResultRow> rows, std::span<const config::RunConfig> runs) {
  std::vector<ResultRow> all(rows.begin(), rows.end());
  std::set<std::string> known;
  for (const ResultRow& row : rows) known.insert(row.run);
  for (const config::RunConfig& run : runs) {
    if (known.contains(run.id)) continue;
    ResultRow& planned = all.emplace_back();
    planned.run = run.id;
    planned.config = run.json();
  }
  return all;
}

Judgement judge(const Claim& claim, std::span<const ResultRow> rows) {
  const Evidence evidence(rows);
  Judgement judgement = claim.judge(evidence);
  if (evidence.is_missing()) {
    const auto ended = std::count_if(evidence.read().begin(), evidence.read().end(),
                                     [](const ResultRow* row) { return is_result(*row); });
    judgement = {Verdict::not_run, fmt::format("{} of {} runs have ended", ended, evidence.read().size()), "", ""};
  }
  judgement.size = size_of(evidence);
  return judgement;
}

std::vector<JudgedClaim> judge_claims(std::string_view study, std::span<const ResultRow> rows,
                                      std::span<const config::RunConfig> runs) {
  const std::vector<ResultRow> all = with_planned(rows, runs);
  std::vector<JudgedClaim> judged;
  for (const Claim* claim : claims_about(study)) judged.push_back({claim, judge(*claim, all)});
  return judged;
}

Json claim_json(const JudgedClaim& claim) {
  return {{"claim", claim.claim->id},
          {"where", claim.claim->where},
          {"statement", claim.claim->statement},
          {"words", claim.claim->words},
          {"rule", claim.claim->rule},
          {"verdict", verdict_name(claim.judgement.verdict)},
          {"reason", claim.judgement.reason},
          {"numbers", claim.judgement.numbers},
          {"size", claim.judgement.size}};
}

Table claim_table(std::span<const JudgedClaim> claims) {
  Table table{.columns = {{"claim"}, {"verdict"}, {"what the paper says"}, {"what our runs say"}, {"size and budget"}},
              .rows = {}};
  for (const JudgedClaim& one : claims)
    table.rows.push_back(
        {one.claim->id, one.judgement.verdict_text(), one.claim->statement, one.judgement.numbers, one.judgement.size});
  return table;
}

Records claim_records(std::span<const JudgedClaim> claims) {
  Records records;
  for (const JudgedClaim& one : claims)
    records.push_back({{"claim", one.claim->id},
                       {"where", one.claim->where},
                       {"verdict", verdict_name(one.judgement.verdict)},
                       {"reason", one.judgement.reason},
                       {"statement", one.claim->statement},
                       {"numbers", one.judgement.numbers},
                       {"size", one.judgement.size}});
  return records;
}

std::size_t count_with(std::span<const JudgedClaim> claims, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      claims.begin(), claims.end(), [&](const JudgedClaim& one) { return one.judgement.verdict == verdict; }));
}

std::string count_verdicts(std::span<const JudgedClaim> claims) {
  std::string text;
  for (const Verdict verdict : kVerdicts) {
    const std::size_t count = count_with(claims, verdict);
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict_name(verdict));
  }
  return text.empty() ? "no claims" : text;
}

}  // namespace mneme::report
