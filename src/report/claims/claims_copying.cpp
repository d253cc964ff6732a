// Paper B, table 3 and figures 1 and 5 to 16: copying and denoising.
#include <fmt/format.h>

#include <algorithm>

#include "report/claims/judging.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

const std::vector<std::string> kGated = {"lstm", "gru", "nru"};
const std::vector<std::string> kAll = {"rnn", "lstm", "gru", "nru", "transformer", "s4d", "mamba"};

Evidence task(const Evidence& e, const std::string& name, const std::string& along) {
  return e.where("task.name", name).where("test.along", along).where("model.positions", "none");
}

// `layers` 0: every number of them that there is.
std::vector<Group> copying_models(const Evidence& e, const std::vector<std::string>& mixers, int layers) {
  std::vector<Group> groups;
  for (const std::string& mixer : mixers)
    for (const Json& count : e.mixer(mixer).values("model.layers"))
      if (layers == 0 || count == layers)
        groups.push_back({fmt::format("{} x {}", mixer, count.dump()), e.mixer(mixer).where("model.layers", count)});
  return groups;
}

// Training ends at 99 % on validation, so that is what the best evaluation must reach.
Answer has_copied(const Group& model, Numbers* numbers) {
  const auto best = model.evidence.metric("best.accuracy");
  if (!best) return why_none(model);
  if (numbers != nullptr) numbers->add(reading_text(model.name, *best));
  return at_least(*best, kCopied);
}

Judgement learn(const Evidence& e, const std::vector<std::string>& mixers, int layers, bool expected) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const Group& model : copying_models(e, mixers, layers)) {
    const Answer one = has_copied(model, &numbers);
    answers.push_back(expected ? one : !one);
  }
  return judged(all_of(answers), numbers.text());
}

// Accuracy at `times` the training range, for the models that learned the task.
Judgement beyond(const Evidence& e, const std::vector<std::string>& mixers, int layers, double times, bool kept) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const Group& model : copying_models(e, mixers, layers)) {
    const Answer knows = has_copied(model, nullptr);
    if (knows.is == Answer::Is::absent) answers.push_back(knows);
    if (knows.is != Answer::Is::yes) continue;
    const auto trained = model.evidence.trained_up_to();
    const auto far = trained ? model.evidence.beyond(times * *trained) : std::nullopt;
    if (!far) {
      answers.push_back(unsure(fmt::format("{} was not tested at {:g} times", model.name, times)));
      continue;
    }
    numbers.add(fmt::format("{} at {:g}", reading_text(model.name, *far), times * *trained));
    const Answer there = reaches(*far, kSolved);
    answers.push_back(kept ? there : !there);
  }
  if (answers.empty() && !copying_models(e, mixers, layers).empty())
    answers.push_back(unsure("none of these models learned the task"));
  return judged(all_of(answers), numbers.text());
}

// S4D reaches 99 % in fewer steps than any other model of one layer.
Judgement fastest(const Evidence& e) {
  const Group s4d{"s4d x 1", e.mixer("s4d").where("model.layers", 1)};
  const auto own = s4d.evidence.steps_until(kCopied);
  if (!own) return judged(why_none(s4d), "");
  Numbers numbers;
  numbers.add(fmt::format("{} {:.0f} steps", s4d.name, own->mean()));
  std::vector<Answer> answers;
  for (const Group& model : copying_models(e, {"rnn", "lstm", "gru", "nru", "transformer", "mamba"}, 1)) {
    const auto other = model.evidence.steps_until(kCopied);
    if (!other) return judged(why_none(model), numbers.text());
    numbers.add(fmt::format("{} {:.0f}", model.name, other->mean()));
    answers.push_back(answer(*std::max_element(own->values.begin(), own->values.end()) <
                             *std::min_element(other->values.begin(), other->values.end())));
    if (answers.back().is == Answer::Is::no && own->mean() < other->mean()) answers.back() = unsure("seeds overlap");
  }
  return judged(all_of(answers), numbers.text());
}

Judgement harder_to_denoise(const Evidence& e, const std::string& mixer) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const Group& model : copying_models(task(e, "copying", "blanks"), {mixer}, 0)) {
    const Group noisy{
        model.name,
        task(e, "denoising", "blanks").mixer(mixer).where("model.layers", model.evidence.values("model.layers"))};
    const auto copying = model.evidence.steps_until(kCopied), denoising = noisy.evidence.steps_until(kCopied);
    if (!copying || !denoising) return judged(why_none(copying ? noisy : model), "");
    numbers.add(fmt::format("{} copies after {:.0f} steps and denoises after {:.0f}", model.name, copying->mean(),
                            denoising->mean()));
    // Steps are fractions of nothing: compare them as they are.
    answers.push_back(answer(*std::min_element(denoising->values.begin(), denoising->values.end()) >
                             *std::max_element(copying->values.begin(), copying->values.end())));
    if (answers.back().is == Answer::Is::no && denoising->mean() > copying->mean())
      answers.back() = unsure("seeds overlap");
  }
  return judged(all_of(answers), numbers.text());
}

// Appendix: a Transformer with sine-cosine positions learns the task and does not extrapolate.
Judgement sine_cosine(const Evidence& e) {
  const Evidence with =
      e.where("task.name", "copying").where("test.along", "blanks").where("model.positions", "sinusoidal");
  const Judgement learns = learn(with, {"transformer"}, 0, true), far = beyond(with, {"transformer"}, 0, 2, false);
  const auto as_answer = [](const Judgement& one) {
    return one.verdict == Verdict::confirmed      ? answer(true)
           : one.verdict == Verdict::contradicted ? answer(false)
           : one.verdict == Verdict::undecided    ? unsure(one.reason)
                                                  : Answer{Answer::Is::absent, one.reason};
  };
  return judged(as_answer(learns) && as_answer(far), learns.numbers + (far.numbers.empty() ? "" : "; " + far.numbers));
}

// One line of table 3 as claims: who learns the task and who does not.
struct Line {
  const char *id, *what, *name, *along, *row;
  bool rnn_2, gru_2, s4d;
};
constexpr Line kLines[] = {
    {"copy", "copy", "copying", "blanks", "row 1", false, true, true},
    {"copy-pattern", "copy patterns of mixed length", "copying", "pattern", "row 2", false, false, true},
    {"denoise", "denoise", "denoising", "blanks", "row 3", true, true, false},
    {"denoise-pattern", "denoise patterns of mixed length", "denoising", "pattern", "row 4", true, true, false},
};

void add_line(std::vector<Claim>& claims, const Line& line) {
  const auto add = [&](const std::string& who, const std::string& subject, const std::vector<std::string>& mixers,
                       int layers, bool expected) {
    const std::string learns = "mean best validation accuracy is at least 99 %, where training ends",
                      fails = "mean best validation accuracy stays below 99 %, and the runs had converged";
    claims.push_back({fmt::format("B.{}-{}", line.id, who), "memory/table3", fmt::format("table 3, {}", line.row),
                      fmt::format("{} {} to {}", subject, expected ? "learn" : "do not learn", line.what),
                      fmt::format("{}, {} layer{}: {}", line.row, layers == 0 ? "either" : std::to_string(layers),
                                  layers == 2 ? "s" : "", expected ? "✓" : "✗"),
                      expected ? learns : fails, [=](const Evidence& e) {
                        return learn(task(e, line.name, line.along), mixers, layers, expected);
                      }});
  };
  add("gated", "LSTM, GRU and NRU of one layer", kGated, 1, true);
  add("gated-2", line.gru_2 ? "LSTM, GRU and NRU of two layers" : "LSTM and NRU of two layers",
      line.gru_2 ? kGated : std::vector<std::string>{"lstm", "nru"}, 2, true);
  if (!line.gru_2) add("gru-2", "two layers of GRU", {"gru"}, 2, false);
  add("rnn", "plain RNNs of one layer", {"rnn"}, 1, false);
  add("rnn-2", "plain RNNs of two layers", {"rnn"}, 2, line.rnn_2);
  add("transformer", "Transformers without positions", {"transformer"}, 0, false);
  add("s4d", "S4D of one and of two layers", {"s4d"}, 0, line.s4d);
  add("mamba-1", "one layer of Mamba", {"mamba"}, 1, false);
  add("mamba-2", "two layers of Mamba", {"mamba"}, 2, true);
}

}  // namespace

std::vector<Claim> copying_claims() {
  std::vector<Claim> claims;
  for (const Line& line : kLines) add_line(claims, line);
  const std::string far = "those that learned have at least 90 % at ten times the longest blanks of training",
                    lost = "where it learned it has less than 90 % at twice the longest blanks of training",
                    patterns = "those that learned have less than 90 % at twice the longest pattern";
  const auto add = [&](const std::string& id, const std::string& study, const std::string& where,
                       const std::string& statement, const std::string& words, const std::string& rule,
                       std::function<Judgement(const Evidence&)> judge) {
    claims.push_back({id, study, where, statement, words, rule, std::move(judge)});
  };
  struct Setting {
    const char *suffix, *study, *copying, *denoising, *pattern;
  };
  for (const Setting& set :
       {Setting{"", "memory/table3", "figure 1 (a)", "figure 1 (b)", "figure 1 (c) and (d)"},
        Setting{"-hidden", "memory/table3-hidden", "figure 10", "figure 14", "figures 12 and 16"}}) {
    const auto id = [&](const std::string& stem) { return "B." + stem + set.suffix; };
    add(id("blanks-gated"), set.study, set.copying, "gated recurrent networks keep what they copy over longer blanks",
        "Gated RNNs maintain strong performance on sequences with extended blank intervals", far,
        [](const Evidence& e) { return beyond(task(e, "copying", "blanks"), kGated, 0, 10, true); });
    add(id("blanks-mamba"), set.study, set.copying, "Mamba keeps what it copies over longer blanks",
        "Mamba exhibits similar behavior, aligning with gated RNNs", far,
        [](const Evidence& e) { return beyond(task(e, "copying", "blanks"), {"mamba"}, 0, 10, true); });
    add(id("blanks-s4d"), set.study, set.copying, "S4D does not keep what it copies over longer blanks",
        "S4D, despite rapidly learning the task, struggles to extrapolate", lost,
        [](const Evidence& e) { return beyond(task(e, "copying", "blanks"), {"s4d"}, 0, 2, false); });
    add(id("noise-gated"), set.study, set.denoising, "gated recurrent networks denoise over longer blanks",
        "only gated RNNs and Mamba can generalize to longer blank intervals", far,
        [](const Evidence& e) { return beyond(task(e, "denoising", "blanks"), kGated, 0, 10, true); });
    add(id("noise-mamba"), set.study, set.denoising, "two layers of Mamba denoise over longer blanks",
        "2-layer Mamba resides more in the category of gated RNNs", far,
        [](const Evidence& e) { return beyond(task(e, "denoising", "blanks"), {"mamba"}, 2, 10, true); });
    add(id("patterns"), set.study, set.pattern, "no model copies or denoises patterns twice as long as in training",
        "all models fail to extrapolate for pattern length twice the maximum training length and beyond", patterns,
        [](const Evidence& e) {
          const Evidence both = e.where("test.along", "pattern").where("model.positions", "none");
          const Judgement copying = beyond(both.where("task.name", "copying"), kAll, 0, 2, false),
                          denoising = beyond(both.where("task.name", "denoising"), kAll, 0, 2, false);
          if (copying.verdict != Verdict::confirmed) return copying;
          Judgement all = denoising;
          all.numbers = "copying: " + copying.numbers + "; denoising: " + denoising.numbers;
          return all;
        });
  }
  add("B.fastest-s4d", "memory/table3", "figure 5", "S4D learns to copy fastest, with one layer already",
      "S4D exhibits the fastest convergence even with 1 layer",
      "each of its seeds reaches 99 % in fewer steps than any seed of another model of one layer",
      [](const Evidence& e) { return fastest(task(e, "copying", "blanks")); });
  add("B.denoise-harder-s4d", "memory/table3", "section 4.2", "denoising is harder for S4D than copying",
      "That task is definitely more challenging for S4D and Mamba",
      "each seed needs more steps to denoise than any to copy (the whole budget if it never reaches 99 %)",
      [](const Evidence& e) { return harder_to_denoise(e, "s4d"); });
  add("B.denoise-harder-mamba", "memory/table3", "section 4.2", "denoising is harder for Mamba than copying",
      "That task is definitely more challenging for S4D and Mamba",
      "each seed needs more steps to denoise than any to copy (the whole budget if it never reaches 99 %)",
      [](const Evidence& e) { return harder_to_denoise(e, "mamba"); });
  add("B.sine-cosine", "memory/table3", "section 4.2",
      "a Transformer with sine-cosine positions learns to copy and loses it over longer blanks",
      "Although Transformer with sine-cosine encoding learns the task very quickly, that type of positional encoding "
      "significantly reduces its extrapolation capability",
      "mean best validation accuracy is at least 99 %, and accuracy at twice the blanks below 90 %", sine_cosine);
  add("B.hidden-one-layer", "memory/table3-hidden", "figure 9",
      "with the same hidden size one layer of S4D and gated networks copy", "1-layer S4D and gated RNNs solve the task",
      "mean best validation accuracy is at least 99 %", [](const Evidence& e) {
        return learn(task(e, "copying", "blanks"), {"s4d", "lstm", "gru", "nru"}, 1, true);
      });
  for (Claim& claim : claims)
    claim.judge = [judge = claim.judge](const Evidence& e) { return judge(e.by_extrapolation()); };
  return claims;
}

}  // namespace mneme::report
