// Paper A: recall, copying and learning rates.
#include <fmt/format.h>

#include <algorithm>

#include "report/claims/judging.h"
#include "report/stats/format.h"
#include "report/stats/loss_drop.h"

namespace mneme::report {
namespace {

const std::vector<Json> kZoologyRates = {1e-4, 4.64159e-4, 2.15443e-3, 1e-2};

Judgement window_against(const Evidence& e, const std::string& other) {
  return judge_wider({{"attention", e.mixer("attention")}, {other, e.mixer(other)}});
}

Judgement coarse_grid(const Evidence& e) {
  std::string numbers;
  bool missed = false, attention_too = false;
  for (const std::string mixer : {"attention", "hyena", "mamba"}) {
    const Evidence all = e.mixer(mixer);
    const auto fine = all.accuracy(), coarse = all.where("train.lr", kZoologyRates).accuracy();
    if (!fine || !coarse) return not_enough("fewer than three seeds of " + mixer);
    numbers += fmt::format("{}{} {} % with four rates and {} % with all", numbers.empty() ? "" : ", ", mixer,
                           format_percent(coarse->mean), format_percent(fine->mean));
    (mixer == "attention" ? attention_too : missed) |= fine->mean - coarse->mean >= kGain;
  }
  return decide(missed && !attention_too, numbers);
}

// The accuracies of one mixer at its widths, narrowest first.
std::vector<std::pair<std::int64_t, Summary>> by_width(const Evidence& e, const std::string& mixer) {
  std::vector<std::pair<std::int64_t, Summary>> accuracies;
  const Evidence all = e.mixer(mixer);
  for (const Json& width : all.values("model.width"))
    if (const auto accuracy = all.where("model.width", width).accuracy())
      accuracies.emplace_back(width.get<std::int64_t>(), *accuracy);
  return accuracies;
}

std::string widths_text(const std::string& mixer, const std::vector<std::pair<std::int64_t, Summary>>& accuracies) {
  std::string text = mixer;
  for (const auto& [width, accuracy] : accuracies)
    text += fmt::format(" {} % at width {}{}", format_percent(accuracy.mean), width,
                        &accuracy == &accuracies.back().second ? "" : ",");
  return text;
}

Judgement width_helps(const Evidence& e, const std::string& mixer) {
  const auto accuracies = by_width(e, mixer);
  if (accuracies.size() < 2) return not_enough("fewer than two widths of " + mixer);
  const double narrow = accuracies.front().second.mean, wide = accuracies.back().second.mean;
  const std::string numbers = widths_text(mixer, accuracies);
  if (narrow >= kSolved && wide >= kSolved) return not_enough(numbers + ": solved at every width, so none can help");
  return decide(wide - narrow >= kGain, numbers);
}

Judgement width_does_not_help_attention(const Evidence& e) {
  const auto accuracies = by_width(e, "attention");
  if (accuracies.size() < 2) return not_enough("fewer than two widths of attention");
  bool same = true;
  for (const auto& [width, accuracy] : accuracies)
    same = same && accuracy.mean < kSolved && accuracy.mean - accuracies.front().second.mean < 2 * kGain;
  return decide(same, widths_text("attention", accuracies));
}

Judgement widest_solves(const Evidence& e, const std::string& mixer, bool solved) {
  std::vector<Group> groups;
  const Evidence all = e.mixer(mixer);
  const std::vector<Json> widths = all.values("model.width");
  if (widths.empty()) return not_enough("no runs of " + mixer);
  for (const Json& width : solved ? std::vector<Json>{widths.back()} : widths)
    groups.push_back(
        {fmt::format("{} at width {}", mixer, width.get<std::int64_t>()), all.where("model.width", width)});
  return judge_solved(groups, solved);
}

Judgement convolution(const Evidence& e, const std::string& on, const std::string& padding, bool solved) {
  const Evidence with =
      e.mixer("attention").where("model.attention.conv_on", on).where("model.attention.conv_pad", padding);
  return judge_solved({{on.empty() ? "attention" : "attention with a convolution on " + on, with}}, solved);
}

Evidence mamba(const Evidence& e, bool conv, bool gate) {
  return e.mixer("mamba").where("model.mamba.conv", conv).where("model.mamba.gate", gate);
}

Judgement positions_do_not_matter(const Evidence& e) {
  std::string numbers;
  bool same = true;
  for (const std::string mixer : {"mamba", "hyena", "rwkv4", "h3"}) {
    double least = 1, most = 0;
    const Evidence all = e.mixer(mixer);
    for (const std::string positions : {"none", "sinusoidal", "relative", "learned"}) {
      const auto accuracy = all.where("model.positions", positions).accuracy();
      if (!accuracy) return not_enough("fewer than three seeds of " + mixer + " with positions " + positions);
      least = std::min(least, accuracy->mean), most = std::max(most, accuracy->mean);
    }
    numbers += fmt::format("{}{} from {} % to {} %", numbers.empty() ? "" : ", ", mixer, format_percent(least),
                           format_percent(most));
    same = same && most - least < 2 * kGain;
  }
  return decide(same, numbers);
}

Judgement wide_copies_better_than_deep(const Evidence& e) {
  const Evidence all = e.mixer("mamba");
  const auto layers = all.values("model.layers"), widths = all.values("model.width");
  if (layers.size() < 2 || widths.size() < 2) return not_enough("no deep and wide Mamba");
  const auto deep = all.where("model.layers", layers.back()).accuracy(),
             wide = all.where("model.width", widths.back()).accuracy();
  if (!deep || !wide) return not_enough("fewer than three seeds of Mamba");
  const std::string numbers = accuracy_text("deep Mamba", *deep) + ", " + accuracy_text("wide Mamba", *wide);
  if (deep->mean >= kSolved && wide->mean >= kSolved) return not_enough(numbers + ": both copy, so neither is better");
  return decide(wide->mean - deep->mean >= kGain, numbers);
}

Judgement loss_bump(const Evidence& e) {
  const auto runs = e.mixer("attention").chosen();
  if (runs.size() < Evidence::kSeeds) return not_enough("fewer than three seeds of attention");
  int with_bump = 0, solved = 0;
  for (const ResultRow* row : runs) {
    const auto drops = find_loss_drops(row->metrics);
    with_bump += std::any_of(drops.begin(), drops.end(), [](const LossDrop& drop) { return drop.bump; });
    solved += counted_test_accuracy(*row) >= kSolved;
  }
  return decide(
      2 * with_bump > std::ssize(runs) && solved == 0,
      fmt::format("{} of {} runs of attention have a loss bump, {} solve the task", with_bump, runs.size(), solved));
}

Judgement scaling(const Evidence& e, const std::string& mixer, bool by_width_is_better) {
  const Evidence all = e.mixer(mixer);
  const auto layers = all.values("model.layers"), widths = all.values("model.width");
  if (layers.size() < 2 || widths.size() < 2) return not_enough("fewer than two depths or widths of " + mixer);
  const auto wide = all.where("model.layers", layers.front()).where("model.width", widths.back()).accuracy();
  const auto deep = all.where("model.layers", layers[1]).where("model.width", widths.front()).accuracy();
  if (!wide || !deep) return not_enough("fewer than three seeds of " + mixer);
  const std::string numbers = fmt::format("{} {} % wide and shallow, {} % narrow and deeper", mixer,
                                          format_percent(wide->mean), format_percent(deep->mean));
  return decide(by_width_is_better ? wide->mean > deep->mean : deep->mean > wide->mean, numbers);
}

}  // namespace

std::vector<Claim> recall_claims() {
  const std::string wider = "attention's window is wider in decades",
                    solved = "mean test accuracy at the chosen rate is at least 90 %";
  const std::string unsolved = "mean test accuracy at the chosen rate stays below 90 %";
  return {
      {"A.window-mamba", "recall/fig1", "figure 1",
       "the window of learning rates is narrower for Mamba than for attention", wider,
       [](const Evidence& e) { return window_against(e, "mamba"); }},
      {"A.window-hyena", "recall/fig1", "figure 1",
       "the window of learning rates is narrower for Hyena than for attention", wider,
       [](const Evidence& e) { return window_against(e, "hyena"); }},
      {"A.coarse-grid", "recall/fig1", "figures 1 and 2",
       "Zoology's grid of four rates misses what recurrent models can do",
       "with all rates Mamba or Hyena gains 5 points over the four, and attention does not", coarse_grid},
      {"A.two-layers", "recall/fig1", "section 4", "two layers of attention solve MQAR", solved,
       [](const Evidence& e) {
         return judge_solved({{"attention", e.mixer("attention")}}, true);
       }},
      {"A.tuned-mamba", "recall/fig2", "figure 2", "a finer grid of rates raises Mamba's accuracy",
       "at some length and width by 5 points over Zoology's four rates",
       [](const Evidence& e) {
         std::optional<double> most;
         const Evidence all = e.mixer("mamba");
         for (const Json& length : all.values("task.length"))
           for (const Json& width : all.values("model.width")) {
             const Evidence here = all.where("task.length", length).where("model.width", width);
             const auto fine = here.accuracy(), coarse = here.where("train.lr", kZoologyRates).accuracy();
             if (!fine || !coarse) return not_enough("fewer than three seeds at a width");
             most = std::max(most.value_or(-1), fine->mean - coarse->mean);
           }
         if (!most) return not_enough("no runs of mamba");
         return decide(*most >= kGain, fmt::format("at most {} points", format_percent(*most)));
       }},
      {"A.one-layer-attention", "recall/fig3", "figure 3", "one layer of attention does not solve MQAR at any width",
       unsolved, [](const Evidence& e) { return widest_solves(e, "attention", false); }},
      {"A.attention-width", "recall/fig3", "figure 3", "width does not help one layer of attention",
       "no width solves it, or is 10 points above the narrowest", width_does_not_help_attention},
      {"A.one-layer-mamba", "recall/fig3", "figure 3", "one layer of Mamba solves MQAR if it is wide enough",
       solved + ", at the largest width", [](const Evidence& e) { return widest_solves(e, "mamba", true); }},
      {"A.width-mamba", "recall/fig3", "figure 3", "width helps one layer of Mamba",
       "the widest is 5 points above the narrowest", [](const Evidence& e) { return width_helps(e, "mamba"); }},
      {"A.width-hyena", "recall/fig3", "figure 3", "width helps one layer of Hyena",
       "the widest is 5 points above the narrowest", [](const Evidence& e) { return width_helps(e, "hyena"); }},
      {"A.scaling-attention", "recall/fig4", "figure 4", "attention gains more from depth than from width",
       "the narrowest with the second depth beats the widest with the first",
       [](const Evidence& e) { return scaling(e, "attention", false); }},
      {"A.scaling-mamba", "recall/fig4", "figure 4", "Mamba gains more from width than from depth",
       "the widest with the first depth beats the narrowest with the second",
       [](const Evidence& e) { return scaling(e, "mamba", true); }},
      {"A.copy-window", "recall/fig5", "figure 5", "on copying, too, Mamba's window is narrower than that of attention",
       wider, [](const Evidence& e) { return window_against(e, "mamba"); }},
      {"A.copy-wide", "recall/table1", "table 1", "at equal parameters a wide Mamba copies better than a deep one",
       "by 5 points of test accuracy", wide_copies_better_than_deep},
      {"A.loss-bump", "recall/fig6", "figure 6", "the loss of one-layer attention falls a second time without accuracy",
       "most of its runs have a loss bump (docs/claims.md) and none solves the task", loss_bump},
      {"A.conv-none", "recall/table3", "table 3", "one layer of attention alone fails", unsolved,
       [](const Evidence& e) { return convolution(e, "", "causal", false); }},
      {"A.conv-qkv", "recall/table3", "table 3",
       "a convolution on queries, keys and values lets one layer of attention solve MQAR", solved,
       [](const Evidence& e) { return convolution(e, "qkv", "causal", true); }},
      {"A.conv-k", "recall/table3", "table 3", "a convolution on keys alone is enough", solved,
       [](const Evidence& e) { return convolution(e, "k", "causal", true); }},
      {"A.conv-v", "recall/table3", "table 3", "a convolution on values alone is enough",
       solved + ", with a causal convolution", [](const Evidence& e) { return convolution(e, "v", "causal", true); }},
      {"A.conv-v-ahead", "recall/table3", "table 3", "a convolution on values alone is enough",
       solved + ", with a convolution that looks one token ahead",
       [](const Evidence& e) { return convolution(e, "v", "same", true); }},
      {"A.conv-q", "recall/table3", "table 3", "a convolution on queries alone is not enough", unsolved,
       [](const Evidence& e) { return convolution(e, "q", "causal", false); }},
      {"A.mamba-conv", "recall/table3", "tables 2 and 3", "one layer of Mamba without its convolution fails", unsolved,
       [](const Evidence& e) {
         return judge_solved({{"Mamba without convolution", mamba(e, false, true)}}, false);
       }},
      {"A.mamba-gate", "recall/table3", "tables 2 and 3", "one layer of Mamba without its gate solves MQAR", solved,
       [](const Evidence& e) {
         return judge_solved({{"Mamba without gate", mamba(e, true, false)}}, true);
       }},
      {"A.mamba-whole", "recall/table3", "tables 2 and 3", "one layer of Mamba solves MQAR", solved,
       [](const Evidence& e) {
         return judge_solved({{"Mamba", mamba(e, true, true)}}, true);
       }},
      {"A.s6", "recall/table3", "tables 2 and 3", "S6 with an MLP, as a Transformer's layer, solves MQAR",
       solved + ", without a convolution",
       [](const Evidence& e) {
         return judge_solved({{"S6", e.mixer("s6")}}, true);
       }},
      {"A.positions", "recall/table4", "table 4", "positions make no difference to Mamba, Hyena, RWKV and H3",
       "for each of them the four means are less than 10 points apart", positions_do_not_matter},
      {"A.window-mamba2", "recall/fig7", "figure 7", "Mamba2's window is a little wider than Mamba's",
       "it is wider in decades",
       [](const Evidence& e) {
         return judge_wider({{"mamba2", e.mixer("mamba2")}, {"mamba", e.mixer("mamba")}});
       }},
      {"A.window-deltanet", "recall/fig7", "figure 7", "DeltaNet's window is as wide as that of attention",
       "it is at least as wide in decades as that of two layers of attention",
       [](const Evidence& e) {
         return judge_wider({{"deltanet", e.mixer("deltanet")}, {"attention", e.mixer("attention")}}, true);
       }},
      {"A.window-deep", "recall/fig13", "figure 13", "with twelve layers, too, attention has the widest window",
       wider + " than those of Mamba and Hyena",
       [](const Evidence& e) {
         return judge_wider(
             {{"attention", e.mixer("attention")}, {"mamba", e.mixer("mamba")}, {"hyena", e.mixer("hyena")}});
       }},
  };
}

}  // namespace mneme::report
