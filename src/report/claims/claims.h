// What the two papers state, each as a test over results.
//
// A claim is judged on the runs of one study at one scale that it is about, and only when all of these have ended: a
// verdict on half a grid would depend on which half. The statement is the paper's, in our words; the rule that decides
// is in the source next to it and in docs/claims.md. A verdict holds for the size and budget that it names.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "report/claims/evidence.h"
#include "report/pages/records.h"
#include "report/pages/table.h"

namespace mneme::report {

// not_run is no verdict: runs that the claim needs have not ended, or this scale has none of them.
enum class Verdict { confirmed, contradicted, undecided, not_run };
// "confirmed", "contradicted", "undecided", "not run".
std::string verdict_name(Verdict verdict);
inline constexpr Verdict kVerdicts[] = {Verdict::confirmed, Verdict::contradicted, Verdict::undecided,
                                        Verdict::not_run};

struct Judgement {
  Verdict verdict = Verdict::not_run;
  std::string reason;   // of undecided and not run
  std::string numbers;  // what it rests on
  std::string size;     // task, model and budget of the runs that it rests on

  // "undecided: still improving".
  std::string verdict_text() const;
};

struct Claim {
  std::string id;         // "A.window-mamba": the paper, and what it is about
  std::string study;      // "recall/fig1"
  std::string where;      // in the paper: "figure 1, section 3"
  std::string statement;  // one sentence without a full stop
  std::string words;      // the paper's own, quoted; or the cells of its table
  std::string rule;       // what is computed and when it holds, one sentence without a full stop
  std::function<Judgement(const Evidence&)> judge;
};

// The one list, paper A first.
const std::vector<Claim>& claim_list();
std::vector<Claim> window_claims();    // paper A: figures 1, 2, 5, 7, 13
std::vector<Claim> scaling_claims();   // paper A: figures 3, 4, 6 and table 1
std::vector<Claim> ablation_claims();  // paper A: tables 2 to 4
std::vector<Claim> tracking_claims();  // paper B: tables 1 and 2
std::vector<Claim> copying_claims();   // paper B: table 3 and figures 1, 5 to 16
std::vector<Claim> counting_claims();  // paper B: tables 4 and 5

// The claims about a study, in the order of the list.
std::vector<const Claim*> claims_about(std::string_view study);

// The rows, and for each run of the study without one a row that has not ended.
std::vector<ResultRow> with_planned(std::span<const ResultRow> rows, std::span<const config::RunConfig> runs);

// `rows` are those of with_planned.
Judgement judge(const Claim& claim, std::span<const ResultRow> rows);

struct JudgedClaim {
  const Claim* claim;
  Judgement judgement;
};
// All claims about a study, judged.
std::vector<JudgedClaim> judge_claims(std::string_view study, std::span<const ResultRow> rows,
                                      std::span<const config::RunConfig> runs);

Json claim_json(const JudgedClaim& claim);
// One line a claim: id, verdict, statement, numbers, size.
Table claim_table(std::span<const JudgedClaim> claims);
Records claim_records(std::span<const JudgedClaim> claims);  // the same for machines
std::size_t count_with(std::span<const JudgedClaim> claims, Verdict verdict);
// "2 confirmed, 1 contradicted".
std::string count_verdicts(std::span<const JudgedClaim> claims);

}  // namespace mneme::report
