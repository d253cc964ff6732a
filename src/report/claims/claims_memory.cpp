// Paper B: state tracking, copying and denoising, counting; and what is left of them on longer sequences.
#include <fmt/format.h>

#include <algorithm>

#include "report/claims/judging.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

const std::vector<std::string> kNonLinear = {"rnn", "lstm", "gru", "nru"};
const std::vector<std::string> kGated = {"lstm", "gru", "nru"};
const std::vector<std::string> kParallel = {"transformer", "s4d", "mamba", "ids4"};

// The number of layers matters to the caller only as a name: fewest first.
std::vector<Group> by_layers(const Evidence& e, const std::string& mixer) {
  std::vector<Group> groups;
  const Evidence all = e.mixer(mixer);
  const std::vector<Json> layers = all.values("model.layers");
  for (const Json& count : layers)
    groups.push_back({layers.size() == 1 ? mixer : fmt::format("{} x {}", mixer, count.get<int>()),
                      all.where("model.layers", count)});
  return groups;
}

// The largest tested value up to which every mean is above kSolved; 0 if the first is not. Nothing without enough
// seeds.
std::optional<double> reached(const Evidence& e, const std::string& metric) {
  double last = 0;
  const std::vector<double> values = e.tested();
  if (values.empty()) return {};
  for (const double value : values) {
    const auto summary = e.beyond(value, metric);
    if (!summary) return {};
    if (summary->mean <= kSolved) break;
    last = value;
  }
  return last;
}

struct Reach {
  std::string name;
  double trained = 0, reached = 0;
  bool learned() const { return reached >= trained; }
  bool extrapolates() const { return reached > trained; }
};

// How far each model gets on each group of state tracking; empty if there are not enough seeds.
std::vector<Reach> reaches(const Evidence& e, const std::vector<std::string>& mixers) {
  std::vector<Reach> all;
  for (const std::string& mixer : mixers)
    for (const Json& group : e.values("task.group"))
      for (const Group& model : by_layers(e.where("task.group", group), mixer)) {
        const auto far = reached(model.evidence, "exact_match");
        const auto trained = model.evidence.trained_up_to();
        if (!far || !trained) return {};
        all.push_back({fmt::format("{} on {}", model.name, group.get<std::string>()), *trained, *far});
      }
  return all;
}

std::string reaches_text(const std::vector<Reach>& all) {
  std::string text;
  for (const Reach& one : all) text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", one.name, one.reached);
  return text;
}

Judgement non_linear_extrapolate(const Evidence& e) {
  const auto all = reaches(e, kNonLinear);
  if (all.empty()) return not_enough("fewer than three seeds, or not tested");
  const auto beyond = std::count_if(all.begin(), all.end(), [](const Reach& one) { return one.extrapolates(); });
  return decide(2 * beyond > std::ssize(all),
                fmt::format("{} of {} get beyond the training length: {}", beyond, all.size(), reaches_text(all)));
}

Judgement parallel_do_not(const Evidence& e) {
  const auto all = reaches(e, kParallel);
  if (all.empty()) return not_enough("fewer than three seeds, or not tested");
  if (std::none_of(all.begin(), all.end(), [](const Reach& one) { return one.learned(); }))
    return not_enough("none of them learned the training length: " + reaches_text(all));
  return decide(std::none_of(all.begin(), all.end(), [](const Reach& one) { return one.extrapolates(); }),
                reaches_text(all));
}

Judgement all_have_limits(const Evidence& e) {
  std::vector<std::string> mixers = kNonLinear;
  mixers.insert(mixers.end(), kParallel.begin(), kParallel.end());
  const auto all = reaches(e, mixers);
  if (all.empty()) return not_enough("fewer than three seeds, or not tested");
  const double longest = e.tested().back();
  std::string without;
  for (const std::string& mixer : mixers)
    if (std::all_of(all.begin(), all.end(),
                    [&](const Reach& one) { return !one.name.starts_with(mixer + " ") || one.reached >= longest; }))
      without += (without.empty() ? "" : ", ") + mixer;
  return decide(without.empty(), without.empty() ? fmt::format("none reaches {} on every group", longest)
                                                 : fmt::format("{} reaches {} on every group", without, longest));
}

Evidence blanks(const Evidence& e, const std::string& task) {
  return e.where("task.name", task).where("test.along", "blanks");
}
Evidence patterns(const Evidence& e, const std::string& task) {
  return e.where("task.name", task).where("test.along", "pattern");
}

// Accuracy at twice the training range, for the models of the list that learned the task.
Judgement twice_as_long(const Evidence& e, const std::vector<std::string>& mixers, bool kept) {
  std::string numbers;
  bool holds = true;
  for (const std::string& mixer : mixers)
    for (const Group& model : by_layers(e, mixer)) {
      const auto trained = model.evidence.trained_up_to();
      const auto learned = model.evidence.accuracy();
      if (!trained || !learned) return not_enough("fewer than three seeds of " + model.name);
      const auto far = model.evidence.beyond(2 * *trained);
      if (!far) return not_enough(fmt::format("{} was not tested at {}", model.name, 2 * *trained));
      if (learned->mean < kSolved) continue;
      numbers += fmt::format("{}{} {} % in training and {} % at {}", numbers.empty() ? "" : ", ", model.name,
                             format_percent(learned->mean), format_percent(far->mean), 2 * *trained);
      holds = holds && (far->mean >= kSolved) == kept;
    }
  return numbers.empty() ? not_enough("none of these models learned the task") : decide(holds, numbers);
}

Judgement harder_to_denoise(const Evidence& e, const std::string& mixer) {
  std::string numbers;
  bool copies = false, holds = true;
  for (const Group& model : by_layers(blanks(e, "copying"), mixer)) {
    const auto copying = model.evidence.accuracy();
    const auto denoising =
        blanks(e, "denoising").mixer(mixer).where("model.layers", model.evidence.values("model.layers")).accuracy();
    if (!copying || !denoising) return not_enough("fewer than three seeds of " + model.name);
    numbers += fmt::format("{}{} copies {} % and denoises {} %", numbers.empty() ? "" : ", ", model.name,
                           format_percent(copying->mean), format_percent(denoising->mean));
    copies = copies || copying->mean >= kSolved;
    holds = holds && denoising->mean < copying->mean - kGain;
  }
  return copies ? decide(holds, numbers)
                : not_enough(numbers + ": it does not copy, so there is nothing to be harder than");
}

// Whether these models learn a task at all (with `solved` false: whether none does).
Judgement learns(const Evidence& e, const std::vector<std::string>& mixers, bool solved) {
  std::vector<Group> groups;
  for (const std::string& mixer : mixers)
    for (Group& model : by_layers(e, mixer)) groups.push_back(std::move(model));
  return groups.empty() ? not_enough("no runs of these models") : judge_solved(groups, solved);
}

// Three of five seeds pass, in every width: the paper's rule for counting.
Judgement passes(const Evidence& e, const std::vector<std::string>& mixers, int layers, const std::string& metric,
                 bool expected) {
  std::string numbers;
  bool holds = true;
  for (const std::string& mixer : mixers)
    for (const Json& width : e.values("model.width")) {
      const auto seeds = e.mixer(mixer)
                             .where("model.layers", layers)
                             .where("model.width", width)
                             .where("task.length", e.values("task.length"))
                             .metric(metric);
      if (!seeds) return not_enough("fewer than three seeds of " + mixer);
      numbers += fmt::format("{}{} of {} {} of {} seeds", numbers.empty() ? "" : ", ", mixer, width.get<int>(),
                             std::lround(seeds->mean * seeds->n), seeds->n);
      holds = holds && (5 * seeds->mean >= 3) == expected;
    }
  return numbers.empty() ? not_enough("no runs of these models") : decide(holds, numbers);
}

// A length is too long if most of its runs end in numbers that are not finite.
Judgement overflow(const Evidence& e) {
  std::string numbers;
  bool short_holds = true, long_overflows = true;
  for (const Json& length : e.values("task.length")) {
    const auto runs = e.where("task.length", length).chosen();
    if (runs.size() < Evidence::kSeeds) return not_enough("fewer than three seeds at a length");
    const auto diverged =
        std::count_if(runs.begin(), runs.end(), [](const ResultRow* row) { return row->outcome == "diverged"; });
    numbers +=
        fmt::format("{}{} of {} at {} tokens", numbers.empty() ? "" : ", ", diverged, runs.size(), length.get<int>());
    const bool most = 2 * diverged > std::ssize(runs);
    if (length.get<int>() <= 20) short_holds = short_holds && !most;
    if (length.get<int>() >= 40) long_overflows = long_overflows && most;
  }
  return numbers.empty() ? not_enough("no runs") : decide(short_holds && long_overflows, "overflow in " + numbers);
}

Judgement long_words_have_limits(const Evidence& e) {
  std::string numbers;
  bool limits = true;
  const std::vector<Json> lengths = e.values("task.length");
  if (lengths.empty()) return not_enough("no runs");
  for (const std::string& mixer : kNonLinear) {
    bool everywhere = true;
    for (const Json& group : e.values("task.group")) {
      const auto summary =
          e.mixer(mixer).where("task.group", group).where("task.length", lengths.back()).metric("test.exact_match");
      if (!summary) return not_enough("fewer than three seeds of " + mixer);
      numbers += fmt::format("{}{} on {} {} %", numbers.empty() ? "" : ", ", mixer, group.get<std::string>(),
                             format_percent(summary->mean));
      everywhere = everywhere && summary->mean > kSolved;
    }
    limits = limits && !everywhere;
  }
  return decide(limits, fmt::format("at {} tokens {}", lengths.back().get<int>(), numbers));
}

}  // namespace

std::vector<Claim> memory_claims() {
  const std::string solved = "mean test accuracy at the chosen rate is at least 90 %",
                    unsolved = "mean test accuracy at the chosen rate stays below 90 %";
  const std::string seeds = "at least three of five seeds pass at every hidden size",
                    few = "fewer than three of five seeds pass at every hidden size";
  return {
      {"B.long-words", "memory/table1", "table 1", "even non-linear recurrent networks have limits on long words",
       "none of them has 90 % of the longest words right on every group", long_words_have_limits},
      {"B.non-linear", "memory/table2", "table 2",
       "non-linear recurrent networks extrapolate state tracking to longer words",
       "most of them have more than 90 % right at a length beyond training and all shorter ones",
       non_linear_extrapolate},
      {"B.parallel", "memory/table2", "table 2", "Transformer, S4, Mamba and IDS4 do not extrapolate state tracking",
       "none of those that learned it has more than 90 % right at the next tested length", parallel_do_not},
      {"B.limits", "memory/table2", "table 2", "all models have limits when words get longer",
       "none reaches the longest tested length on every group", all_have_limits},
      {"B.ids4-overflow", "memory/ids4", "section 4.1",
       "IDS4 cannot be trained on words of more than about 20 tokens: it overflows",
       "most runs stay finite up to 20 tokens and most do not from 40 on", overflow},
      {"B.copy-gated", "memory/table3", "table 3", "LSTM, GRU and NRU learn to copy", solved,
       [](const Evidence& e) { return learns(blanks(e, "copying"), kGated, true); }},
      {"B.copy-rnn", "memory/table3", "table 3", "a plain RNN does not learn to copy", unsolved,
       [](const Evidence& e) { return learns(blanks(e, "copying"), {"rnn"}, false); }},
      {"B.copy-transformer", "memory/table3", "table 3", "a Transformer without positions does not learn to copy",
       unsolved, [](const Evidence& e) { return learns(blanks(e, "copying"), {"transformer"}, false); }},
      {"B.copy-s4d", "memory/table3", "table 3", "S4D learns to copy, with one layer already", solved,
       [](const Evidence& e) { return learns(blanks(e, "copying"), {"s4d"}, true); }},
      {"B.copy-mamba-1", "memory/table3", "table 3", "one layer of Mamba does not learn to copy", unsolved,
       [](const Evidence& e) { return learns(blanks(e, "copying").where("model.layers", 1), {"mamba"}, false); }},
      {"B.copy-mamba-2", "memory/table3", "table 3", "two layers of Mamba learn to copy", solved,
       [](const Evidence& e) { return learns(blanks(e, "copying").where("model.layers", 2), {"mamba"}, true); }},
      {"B.blanks-gated", "memory/table3", "figure 1", "gated recurrent networks keep what they copy over longer blanks",
       "those that learned have at least 90 % at twice the longest blanks of training",
       [](const Evidence& e) { return twice_as_long(blanks(e, "copying"), kGated, true); }},
      {"B.blanks-mamba", "memory/table3", "figure 1", "Mamba keeps what it copies over longer blanks",
       "where it learned it has at least 90 % at twice the longest blanks of training",
       [](const Evidence& e) { return twice_as_long(blanks(e, "copying"), {"mamba"}, true); }},
      {"B.blanks-s4d", "memory/table3", "figure 1", "S4D does not keep what it copies over longer blanks",
       "where it learned it has less than 90 % at twice the longest blanks of training",
       [](const Evidence& e) { return twice_as_long(blanks(e, "copying"), {"s4d"}, false); }},
      {"B.patterns", "memory/table3", "figure 1", "no model copies patterns twice as long as in training",
       "those that learned have less than 90 % at twice the longest pattern",
       [](const Evidence& e) {
         return twice_as_long(patterns(e, "copying"), {"rnn", "lstm", "gru", "nru", "transformer", "s4d", "mamba"},
                              false);
       }},
      {"B.denoise-s4d", "memory/table3", "table 3", "denoising is harder for S4D than copying",
       "it copies, and denoises 5 points less well", [](const Evidence& e) { return harder_to_denoise(e, "s4d"); }},
      {"B.denoise-mamba", "memory/table3", "table 3", "two layers of Mamba learn to denoise", solved,
       [](const Evidence& e) { return learns(blanks(e, "denoising").where("model.layers", 2), {"mamba"}, true); }},
      {"B.count-recurrent", "memory/table4", "table 4", "RNN, LSTM, GRU and NRU predict when the signal goes off",
       seeds, [](const Evidence& e) { return passes(e, kNonLinear, 1, "phases.offset_passed", true); }},
      {"B.count-s4d", "memory/table4", "table 4", "S4D predicts when the signal goes off", seeds,
       [](const Evidence& e) { return passes(e, {"s4d"}, 1, "phases.offset_passed", true); }},
      {"B.count-mamba-1", "memory/table4", "table 4", "one layer of Mamba does not", few,
       [](const Evidence& e) { return passes(e, {"mamba"}, 1, "phases.offset_passed", false); }},
      {"B.count-mamba-2", "memory/table4", "section 4.3", "two layers of Mamba do", seeds,
       [](const Evidence& e) { return passes(e, {"mamba"}, 2, "phases.offset_passed", true); }},
      {"B.count-transformer", "memory/table4", "table 4", "a Transformer without positions does not, with one layer",
       few, [](const Evidence& e) { return passes(e, {"transformer"}, 1, "phases.offset_passed", false); }},
      {"B.count-transformer-2", "memory/table4", "section 4.3", "nor with two", few,
       [](const Evidence& e) { return passes(e, {"transformer"}, 2, "phases.offset_passed", false); }},
      {"B.phase-s4d-two", "memory/table5", "table 5", "S4D starts to count again after a longer gap", seeds,
       [](const Evidence& e) { return passes(e, {"s4d"}, 1, "phases.two_isi", true); }},
      {"B.phase-s4d-double", "memory/table5", "table 5", "S4D counts a doubled signal twice", seeds,
       [](const Evidence& e) { return passes(e, {"s4d"}, 1, "phases.double_isi", true); }},
      {"B.phase-rnn-two", "memory/table5", "table 5", "an RNN starts to count again after a longer gap", seeds,
       [](const Evidence& e) { return passes(e, {"rnn"}, 1, "phases.two_isi", true); }},
      {"B.phase-rnn-double", "memory/table5", "table 5", "a small RNN counts a doubled signal twice",
       "at least three of five seeds pass at hidden size 8",
       [](const Evidence& e) { return passes(e.where("model.width", 8), {"rnn"}, 1, "phases.double_isi", true); }},
      {"B.phase-gru-two", "memory/table5", "table 5", "a GRU does not start to count again after a longer gap", few,
       [](const Evidence& e) { return passes(e, {"gru"}, 1, "phases.two_isi", false); }},
      {"B.phase-lstm-double", "memory/table5", "table 5", "an LSTM does not count a doubled signal twice", few,
       [](const Evidence& e) { return passes(e, {"lstm"}, 1, "phases.double_isi", false); }},
      {"B.phase-mamba", "memory/table5", "section 4.3",
       "two layers of Mamba pass one of the phase tests and not the other",
       "at least three of five seeds pass the longer gap at every hidden size and fewer the doubled signal, or the "
       "other way round",
       [](const Evidence& e) {
         const Judgement two = passes(e, {"mamba"}, 2, "phases.two_isi", true),
                         twice = passes(e, {"mamba"}, 2, "phases.double_isi", true);
         if (two.verdict == Verdict::not_enough_runs || twice.verdict == Verdict::not_enough_runs) return two;
         return decide(two.verdict != twice.verdict,
                       fmt::format("longer gap: {}; doubled: {}", two.numbers, twice.numbers));
       }},
      {"B.phase-transformer", "memory/table5", "table 5", "a Transformer passes neither phase test",
       "fewer than three of five seeds pass either at every hidden size",
       [](const Evidence& e) {
         const Judgement two = passes(e, {"transformer"}, 1, "phases.two_isi", false),
                         twice = passes(e, {"transformer"}, 1, "phases.double_isi", false);
         if (two.verdict == Verdict::not_enough_runs || twice.verdict == Verdict::not_enough_runs) return two;
         return decide(two.verdict == Verdict::confirmed && twice.verdict == Verdict::confirmed,
                       fmt::format("longer gap: {}; doubled: {}", two.numbers, twice.numbers));
       }},
  };
}

}  // namespace mneme::report
