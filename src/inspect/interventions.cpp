// Interchange interventions: which site carries the key, and which the value, at which kind of position.
#include "inspect/circuit.h"
#include "inspect/list.h"
#include "inspect/patches.h"

namespace mneme::inspect {
namespace {

// Fewer leave a standard error of a tenth and more.
constexpr std::int64_t kLeastExamples = 64;

struct Corruption {
  Kind token;
  KeyEvidence evidence;
  double clean = 0, corrupt = 0;  // mean probability of the clean answer
};

Corruption intervene(const Subject& subject, Patches& patches, const RecallCases& cases, Kind token,
                     const torch::Tensor& corrupted) {
  const torch::Tensor clean = patches.probabilities(cases.tokens), corrupt = patches.probabilities(corrupted);
  Corruption result{token, {}, clean.mean().item<double>(), corrupt.mean().item<double>()};
  KeyEvidence& evidence = result.evidence;
  evidence.examples = cases.count();
  evidence.kept = (clean - corrupt > kLeastEffect).sum().item<std::int64_t>();
  evidence.layers = subject.model().layers();
  if (evidence.kept == 0) return result;
  const auto add = [&](std::int64_t layer, const std::string& place, Kind kind, const torch::Tensor& patched) {
    if (!patched.defined()) return;
    if (const auto found = attribution(clean, corrupt, patched)) evidence.cells.push_back({layer, place, kind, *found});
  };
  for (const models::Site& site : patches.sites())
    for (const Kind kind : kKinds)
      add(site.layer, place_name(site.place), kind, patches.patched(corrupted, site, kind));
  for (const Patches::StatePart& part : patches.state_parts()) {
    const auto patched = patches.patched_states(corrupted, part);
    for (std::size_t kind = 0; kind < patched.size(); ++kind)
      add(part.layer, place_name(part), kKinds[kind], patched[kind]);
  }
  return result;
}

Json corruption_json(const Corruption& corruption) {
  Json cells = Json::array();
  for (const AttributionCell& cell : corruption.evidence.cells)
    cells.push_back({{"layer", cell.layer},
                     {"place", cell.place},
                     {"kind", kind_name(cell.kind)},
                     {"mean", cell.found.mean},
                     {"error", cell.found.error},
                     {"count", cell.found.count}});
  return {{"token", kind_name(corruption.token)}, {"examples", corruption.evidence.examples},
          {"kept", corruption.evidence.kept},     {"p_clean", corruption.clean},
          {"p_corrupt", corruption.corrupt},      {"cells", cells}};
}

}  // namespace

Json interventions(const Subject& subject, const Examples& examples) {
  const torch::NoGradGuard guard;
  if (const std::string why = why_no_recall(subject, examples); !why.empty()) return skipped(why);
  const RecallCases cases =
      recall_cases(examples.count() < kLeastExamples ? subject.examples(kLeastExamples) : examples);
  Patches patches(subject.model(), cases);
  Json corruptions = Json::array(), verdict;
  for (const Kind token : {Kind::key, Kind::value}) {
    const torch::Tensor corrupted = cases.corrupted(token);
    if (!corrupted.defined()) continue;
    const Corruption corruption = intervene(subject, patches, cases, token, corrupted);
    corruptions.push_back(corruption_json(corruption));
    if (token != Kind::key) continue;
    const Verdict found = recall_verdict(corruption.evidence);
    verdict = {{"name", found.name}, {"sentences", found.sentences}};
  }
  if (verdict.is_null()) return skipped("no token of these examples can take the place of a key");
  return {{"corruptions", corruptions}, {"verdict", verdict}, {"least_effect", kLeastEffect}, {"carries", kCarries}};
}

}  // namespace mneme::inspect
