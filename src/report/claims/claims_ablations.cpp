// Paper A, tables 2 to 4: what one layer needs.
#include <fmt/format.h>

#include <algorithm>

#include "report/claims/judging.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

Evidence attention(const Evidence& e, const std::string& on, const std::string& padding) {
  return e.where("model.layers", 1)
      .mixer("attention")
      .where("model.attention.conv_on", on)
      .where("model.attention.conv_pad", padding);
}

Judgement convolution(const Evidence& e, const std::string& on, bool solved) {
  return judge_solved({{"attention with a convolution on " + on, attention(e, on, "causal")}}, solved);
}

Evidence mamba(const Evidence& e, int layers, bool conv, bool gate) {
  return e.where("model.layers", layers)
      .mixer("mamba")
      .where("model.mamba.conv", conv)
      .where("model.mamba.gate", gate)
      .where("model.state_mixer", "mlp");
}

// The paper does not say which of two convolutions it means: one of them must do.
Judgement on_values(const Evidence& e) {
  Numbers numbers;
  std::vector<Answer> fail;
  for (const auto& [padding, name] : {std::pair{"causal", "causal"}, {"same", "looking one token ahead"}}) {
    const Group group{fmt::format("attention with a convolution on v, {},", name), attention(e, "v", padding)};
    const auto accuracy = group.evidence.accuracy();
    if (!accuracy) return judged(why_none(group), numbers.text());
    numbers.add(reading_text(group.name, *accuracy));
    fail.push_back(!at_least(*accuracy, kSolved));
  }
  return judged(!all_of(fail), numbers.text());
}

Judgement one_pair(const Evidence& e) {
  const Group group{"attention", attention(e, "", "causal")};
  const auto accuracy = group.evidence.accuracy();
  const auto pairs = group.evidence.values("task.pairs");
  if (!accuracy || pairs.size() != 1) return judged(why_none(group), "");
  return judged(is_about(*accuracy, 1 / pairs.front().get<double>()),
                fmt::format("{} with {} pairs", reading_text(group.name, *accuracy), pairs.front().dump()));
}

Judgement same_failure(const Evidence& e) {
  const Group without{"Mamba without convolution", mamba(e, 1, false, true)},
      plain{"attention", attention(e, "", "causal")};
  const auto one = without.evidence.accuracy(), other = plain.evidence.accuracy();
  if (!one || !other) return judged(why_none(one ? plain : without), "");
  return judged(!at_least(*one, kSolved) && !exceeds(*one, *other, 2 * kGain) && !exceeds(*other, *one, 2 * kGain),
                reading_text(without.name, *one) + ", " + reading_text(plain.name, *other));
}

Judgement positions_do_not_matter(const Evidence& e, const std::vector<std::string>& mixers) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const std::string& mixer : mixers) {
    std::vector<Reading> readings;
    for (const std::string positions : {"none", "sinusoidal", "relative", "learned"}) {
      const Group group{mixer + " with positions " + positions, e.mixer(mixer).where("model.positions", positions)};
      const auto accuracy = group.evidence.accuracy();
      if (!accuracy) return judged(why_none(group), numbers.text());
      readings.push_back(*accuracy);
    }
    const auto by_mean = [](const Reading& a, const Reading& b) { return a.mean() < b.mean(); };
    const auto [least, most] = std::minmax_element(readings.begin(), readings.end(), by_mean);
    numbers.add(
        fmt::format("{} from {} % to {} %", mixer, format_percent(least->mean()), format_percent(most->mean())));
    // A worst one that was cut short might have caught up.
    const Answer apart = exceeds(*most, *least, 2 * kGain);
    answers.push_back(apart.is == Answer::Is::yes && converged(*least).is != Answer::Is::yes ? converged(*least)
                                                                                             : !apart);
  }
  return judged(all_of(answers), numbers.text());
}

}  // namespace

std::vector<Claim> ablation_claims() {
  const std::string solved = "mean test accuracy at the chosen rate is at least 90 %",
                    unsolved = "mean test accuracy at the chosen rate stays below 90 %, and the runs had converged";
  return {
      {"A.one-layer-attention", "recall/table3", "section 4 and table 2",
       "one layer of attention recalls one of K pairs",
       "Transformers are capable on average of recalling one key-value pair in every setting",
       "mean test accuracy is within a third of 1/K, and the runs had converged", one_pair},
      {"A.conv-qkv", "recall/table3", "table 3",
       "a convolution on queries, keys and values lets one layer of attention solve MQAR",
       "Attention + Conv on QKV: 99%", solved, [](const Evidence& e) { return convolution(e, "qkv", true); }},
      {"A.conv-k", "recall/table3", "table 3", "a convolution on keys alone is enough", "Attention + Conv on K: 99%",
       solved, [](const Evidence& e) { return convolution(e, "k", true); }},
      {"A.conv-v", "recall/table3", "table 3", "a convolution on values alone is enough", "Attention + Conv on V: 99%",
       solved + ", with a causal convolution or one that looks one token ahead", on_values},
      {"A.conv-q", "recall/table3", "table 3", "a convolution on queries alone is not enough",
       "Attention + Conv on Q: 2%", unsolved, [](const Evidence& e) { return convolution(e, "q", false); }},
      {"A.one-layer-mamba", "recall/table3", "tables 2 and 3", "one layer of Mamba solves MQAR", "Mamba: 99%", solved,
       [](const Evidence& e) {
         return judge_solved({{"Mamba", mamba(e, 1, true, true)}}, true);
       }},
      {"A.mamba-conv", "recall/table3", "tables 2 and 3",
       "one layer of Mamba without its convolution fails as one layer of attention does",
       "reduces its accuracy to the same failure point as the 1-layer Transformer",
       unsolved + "; and it is less than 10 points from attention", same_failure},
      {"A.mamba-conv-2", "recall/table3", "section 7", "two layers of Mamba solve MQAR without their convolutions",
       "the original 2-layer Mamba is robust to convolution removal", solved,
       [](const Evidence& e) {
         return judge_solved({{"two layers of Mamba without convolution", mamba(e, 2, false, true)}}, true);
       }},
      {"A.mamba-gate", "recall/table3", "tables 2 and 3", "one layer of Mamba without its gate solves MQAR",
       "Mamba w\\o gating: 98%", solved,
       [](const Evidence& e) {
         return judge_solved({{"Mamba without gate", mamba(e, 1, true, false)}}, true);
       }},
      {"A.s6", "recall/table3", "tables 2 and 3", "S6 with an MLP, as a Transformer's layer, solves MQAR",
       "S6 + MLP (Mamba as a Transformer): 98%", solved + ", without a convolution",
       [](const Evidence& e) {
         return judge_solved({{"S6", e.mixer("s6")}}, true);
       }},
      {"A.window-ablated", "recall/table3", "section 7",
       "also without its gate Mamba's window is narrower than that of attention with a convolution",
       "the narrow learning rate window remains a persistent property of the SSM",
       "the window of attention with a convolution on queries, keys and values is wider in at least 95 % of the draws "
       "of "
       "seeds",
       [](const Evidence& e) {
         return judge_wider({{"attention with a convolution", attention(e, "qkv", "causal")},
                             {"Mamba without gate", mamba(e, 1, true, false)}});
       }},
      {"A.positions", "recall/table4", "table 4", "positions make no difference to Mamba, Hyena, RWKV and H3",
       "PE has a negligible impact on performance", "for each of them the four means are less than 10 points apart",
       [](const Evidence& e) {
         return positions_do_not_matter(e, {"mamba", "hyena", "rwkv4", "h3"});
       }},
  };
}

}  // namespace mneme::report
