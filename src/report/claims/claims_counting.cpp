// Paper B, tables 4 and 5: when a signal goes off, and whether a model starts to count again.
//
// The paper's rule is a count, and so is ours: at least three of five seeds pass (two of three where there are three).
#include <fmt/format.h>

#include <cmath>

#include "report/claims/judging.h"

namespace mneme::report {
namespace {

// What the paper has for hidden sizes 8 and 64.
struct Expected {
  bool small, large;
};

// The models of one length and width, at the rate that extrapolates best.
Answer passes(const Evidence& e, const std::string& mixer, int layers, const Json& length, const Json& width,
              const std::string& metric, Numbers& numbers) {
  const Group group{fmt::format("{} of {} at length {}", mixer, width.dump(), length.dump()),
                    e.mixer(mixer)
                        .where("model.layers", layers)
                        .where("model.width", width)
                        .where("task.length", length)
                        .where("model.positions", "none")};
  const auto seeds = group.evidence.metric(metric);
  if (!seeds) return why_none(group);
  const auto passed = std::lround(seeds->mean() * static_cast<double>(seeds->values.size()));
  numbers.add(fmt::format("{} {} of {} seeds", group.name, passed, seeds->values.size()));
  if (5 * seeds->mean() >= 3 - 1e-9) return answer(true);
  // A failure counts if the runs were not cut short.
  const Answer done = converged(*seeds);
  return done.is == Answer::Is::yes ? answer(false) : done;
}

// Every length and width is as the paper has it.
Judgement as_expected(const Evidence& e, const std::string& mixer, int layers, const std::string& metric,
                      const std::function<bool(std::int64_t length, std::int64_t width)>& expected) {
  Numbers numbers;
  std::vector<Answer> answers;
  const Evidence all = e.by_extrapolation().mixer(mixer).where("model.layers", layers);
  for (const Json& length : all.values("task.length"))
    for (const Json& width : all.values("model.width")) {
      const Answer one = passes(e.by_extrapolation(), mixer, layers, length, width, metric, numbers);
      answers.push_back(expected(length.get<std::int64_t>(), width.get<std::int64_t>()) ? one : !one);
    }
  return judged(all_of(answers), numbers.text());
}

Claim count_claim(const std::string& id, const std::string& statement, const std::string& words, bool pass,
                  const std::string& mixer, int layers) {
  const bool nru = mixer == "nru";
  return {"B.count-" + id,
          "memory/table4",
          layers == 2 ? "section 4.3" : "table 4",
          statement,
          words,
          fmt::format("at each length and hidden size at least three of five seeds {}{}", pass ? "pass" : "do not pass",
                      nru ? ", but for hidden size 64 at length 1000, where they do not" : ""),
          [=](const Evidence& e) {
            return as_expected(e, mixer, layers, "phases.offset_passed", [=](std::int64_t length, std::int64_t width) {
              return pass && !(nru && length == 1000 && width == 64);
            });
          }};
}

Claim phase_claim(const std::string& mixer, const std::string& name, bool twice, Expected expected) {
  const auto text = [](bool pass) { return pass ? "✓" : "✗"; };
  const std::string what = twice ? "counts a doubled signal twice" : "starts to count again after a longer gap";
  const std::string when = expected.small == expected.large
                               ? (expected.small ? "at both hidden sizes" : "at neither hidden size")
                           : expected.small ? "at hidden size 8 and not at 64"
                                            : "at hidden size 64 and not at 8";
  return {
      fmt::format("B.phase-{}-{}", mixer, twice ? "double" : "two"),
      "memory/table5",
      "table 5",
      fmt::format("{} {} {}", name, what, when),
      fmt::format("{}: {} at 8, {} at 64", twice ? "Double ISI" : "Two ISI", text(expected.small),
                  text(expected.large)),
      "at least three of five seeds pass at each hidden size where the paper has a tick, and fewer where it has none",
      [=](const Evidence& e) {
        return as_expected(
            e, mixer, 1, twice ? "phases.double_isi" : "phases.two_isi",
            [=](std::int64_t, std::int64_t width) { return width <= 8 ? expected.small : expected.large; });
      }};
}

// The text says that two layers pass the longer gap at both sizes, and fail one of the tests.
Judgement two_layers_of_mamba(const Evidence& e) {
  const auto each = [](bool value) { return [value](std::int64_t, std::int64_t) { return value; }; };
  const Judgement two = as_expected(e, "mamba", 2, "phases.two_isi", each(true)),
                  twice = as_expected(e, "mamba", 2, "phases.double_isi", each(false));
  Judgement all = two.verdict == Verdict::confirmed ? twice : two;
  all.numbers = fmt::format("longer gap: {}; doubled: {}", two.numbers, twice.numbers);
  return all;
}

}  // namespace

std::vector<Claim> counting_claims() {
  const std::string tick = "table 4: ✓ at every length and hidden size",
                    cross = "table 4: ✗ at every length and hidden size";
  std::vector<Claim> claims = {
      count_claim("rnn", "an RNN predicts when the signal goes off", tick, true, "rnn", 1),
      count_claim("lstm", "an LSTM predicts when the signal goes off", tick, true, "lstm", 1),
      count_claim("gru", "a GRU predicts when the signal goes off", tick, true, "gru", 1),
      count_claim("nru", "an NRU predicts when the signal goes off, but for the longest signals at hidden size 64",
                  "table 4: ✗ only at length 1000 and hidden size 64", true, "nru", 1),
      count_claim("s4d", "S4D predicts when the signal goes off", "Interestingly, S4D also solves this task", true,
                  "s4d", 1),
      count_claim("mamba-1", "one layer of Mamba does not predict when the signal goes off",
                  "Mamba and Transformer fail on this task", false, "mamba", 1),
      count_claim("mamba-2", "two layers of Mamba predict when the signal goes off",
                  "the 2-layer Mamba solved the task", true, "mamba", 2),
      count_claim("transformer",
                  "a Transformer without positions does not predict when the signal goes off, with one layer", cross,
                  false, "transformer", 1),
      count_claim("transformer-2", "nor with two layers", "the Transformer still fails on it", false, "transformer", 2),
  };
  struct Cell {
    const char *mixer, *name;
    Expected two, twice;
  };
  for (const Cell& cell :
       {Cell{"rnn", "an RNN", {true, true}, {true, false}}, Cell{"lstm", "an LSTM", {false, true}, {false, false}},
        Cell{"gru", "a GRU", {false, false}, {true, false}}, Cell{"nru", "an NRU", {false, true}, {true, true}},
        Cell{"transformer", "a Transformer", {false, false}, {false, false}},
        Cell{"s4d", "S4D", {true, true}, {true, true}},
        Cell{"mamba", "one layer of Mamba", {false, false}, {false, false}}}) {
    claims.push_back(phase_claim(cell.mixer, cell.name, false, cell.two));
    claims.push_back(phase_claim(cell.mixer, cell.name, true, cell.twice));
  }
  claims.push_back(
      {"B.phase-mamba-2", "memory/table5", "section 4.3",
       "two layers of Mamba pass the test of a longer gap at both hidden sizes and not that of a doubled signal",
       "it passes the consecutive ISI test for both 8 and 64 hidden unit configurations",
       "at least three of five seeds pass the longer gap at each hidden size, and fewer the doubled signal",
       two_layers_of_mamba});
  return claims;
}

}  // namespace mneme::report
