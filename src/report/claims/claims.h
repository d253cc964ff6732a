// What the two papers state, each as a test over results.
//
// A claim is judged on the runs of one study at one scale, and only when all of them have ended: a verdict on half a
// grid would depend on which half. The statement is the paper's, in our words; the rule that decides is in the source
// beside it and in docs/claims.md. A verdict holds for the scale it was judged at and says nothing of another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/claims/evidence.h"
#include "report/pages/table.h"

namespace mneme::report {

enum class Verdict { confirmed, contradicted, not_enough_runs };
// "confirmed", "contradicted", "not enough runs".
std::string verdict_name(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::not_enough_runs;
  std::string numbers;  // what it rests on, or what is missing
};

struct Claim {
  std::string id;         // "A.window-mamba": the paper, and what it is about
  std::string study;      // "recall/fig1"
  std::string where;      // in the paper: "figure 1, section 3"
  std::string statement;  // one sentence without a full stop
  std::string rule;       // what is computed and when it holds, one sentence without a full stop
  Judgement (*judge)(const Evidence& evidence);
};

// The one list, paper A first.
const std::vector<Claim>& claim_list();
std::vector<Claim> recall_claims();
std::vector<Claim> memory_claims();

// The claims about a study, in the order of the list.
std::vector<const Claim*> claims_about(std::string_view study);

// `planned`: how many runs the study has at this scale.
Judgement judge(const Claim& claim, std::span<const ResultRow> rows, std::size_t planned);

struct JudgedClaim {
  const Claim* claim;
  Judgement judgement;
};
// All claims about a study, judged.
std::vector<JudgedClaim> judge_claims(std::string_view study, std::span<const ResultRow> rows, std::size_t planned);

Json claim_json(const JudgedClaim& claim);
// One line a claim: id, verdict, statement, numbers.
Table claim_table(std::span<const JudgedClaim> claims);
std::size_t count_with(std::span<const JudgedClaim> claims, Verdict verdict);
// "2 confirmed, 1 contradicted".
std::string count_verdicts(std::span<const JudgedClaim> claims);

}  // namespace mneme::report
