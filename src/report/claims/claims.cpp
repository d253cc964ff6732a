#include "report/claims/claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace mneme::report {

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed: return "confirmed";
    case Verdict::contradicted: return "contradicted";
    case Verdict::not_enough_runs: break;
  }
  return "not enough runs";
}

const std::vector<Claim>& claim_list() {
  static const std::vector<Claim> list = [] {
    std::vector<Claim> claims = recall_claims();
    for (Claim& claim : memory_claims()) claims.push_back(std::move(claim));
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

Judgement judge(const Claim& claim, std::span<const ResultRow> rows, std::size_t planned) {
  const auto ended = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_result));
  if (ended < planned || planned == 0)
    return {Verdict::not_enough_runs, fmt::format("{} of {} runs have ended", ended, planned)};
  return claim.judge(Evidence(rows));
}

std::vector<JudgedClaim> judge_claims(std::string_view study, std::span<const ResultRow> rows, std::size_t planned) {
  std::vector<JudgedClaim> judged;
  for (const Claim* claim : claims_about(study)) judged.push_back({claim, judge(*claim, rows, planned)});
  return judged;
}

Json claim_json(const JudgedClaim& claim) {
  return {{"claim", claim.claim->id},
          {"where", claim.claim->where},
          {"statement", claim.claim->statement},
          {"rule", claim.claim->rule},
          {"verdict", verdict_name(claim.judgement.verdict)},
          {"numbers", claim.judgement.numbers}};
}

Table claim_table(std::span<const JudgedClaim> claims) {
  Table table{.columns = {{"claim"}, {"verdict"}, {"what the paper says"}, {"what our runs say"}}, .rows = {}};
  for (const JudgedClaim& one : claims)
    table.rows.push_back(
        {one.claim->id, verdict_name(one.judgement.verdict), one.claim->statement, one.judgement.numbers});
  return table;
}

std::size_t count_with(std::span<const JudgedClaim> claims, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      claims.begin(), claims.end(), [&](const JudgedClaim& one) { return one.judgement.verdict == verdict; }));
}

std::string count_verdicts(std::span<const JudgedClaim> claims) {
  std::string text;
  for (const Verdict verdict : {Verdict::confirmed, Verdict::contradicted, Verdict::not_enough_runs}) {
    const std::size_t count = count_with(claims, verdict);
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict_name(verdict));
  }
  return text.empty() ? "no claims" : text;
}

}  // namespace mneme::report
