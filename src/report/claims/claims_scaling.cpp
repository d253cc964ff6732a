// Paper A: width and depth, how one-layer models learn, and copying at equal parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/claims/judging.h"
#include "report/stats/format.h"
#include "report/stats/loss_drop.h"

namespace mneme::report {
namespace {

// The lengths of a study, each with its widths: claims about width hold at every length.
struct SizedGroup {
  Json length, width;
  Group group;
};

std::vector<std::vector<SizedGroup>> lengths_and_widths(const Evidence& e, const std::string& mixer) {
  std::vector<std::vector<SizedGroup>> all;
  const Evidence one = e.mixer(mixer);
  for (const Json& length : one.values("task.length")) {
    std::vector<SizedGroup>& widths = all.emplace_back();
    const Evidence here = one.where("task.length", length);
    for (const Json& width : here.values("model.width"))
      widths.push_back({length,
                        width,
                        {fmt::format("{} of width {} at length {}", mixer, width.dump(), length.dump()),
                         here.where("model.width", width)}});
  }
  return all;
}

// The widest beats the narrowest by kGain at every length, unless both solve it there.
Judgement width_helps(const Evidence& e, const std::string& mixer) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const std::vector<SizedGroup>& widths : lengths_and_widths(e, mixer)) {
    if (widths.size() < 2) return judged(no_such("two widths of " + mixer), "");
    const auto narrow = widths.front().group.evidence.accuracy(), wide = widths.back().group.evidence.accuracy();
    if (!narrow || !wide) return judged(why_none(narrow ? widths.back().group : widths.front().group), "");
    numbers.add(reading_text(widths.front().group.name, *narrow));
    numbers.add(reading_text(widths.back().group.name, *wide));
    if (reaches(*narrow, kSolved).is == Answer::Is::yes && reaches(*wide, kSolved).is == Answer::Is::yes)
      answers.push_back(unsure("solved at every width, so that none can help"));
    else
      answers.push_back(exceeds(*wide, *narrow, kGain));
  }
  return judged(all_of(answers), numbers.text());
}

Judgement width_does_not_help(const Evidence& e, const std::string& mixer) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const std::vector<SizedGroup>& widths : lengths_and_widths(e, mixer)) {
    if (widths.size() < 2) return judged(no_such("two widths of " + mixer), "");
    const auto narrow = widths.front().group.evidence.accuracy();
    if (!narrow) return judged(why_none(widths.front().group), "");
    for (const SizedGroup& size : widths) {
      const auto accuracy = size.group.evidence.accuracy();
      if (!accuracy) return judged(why_none(size.group), "");
      numbers.add(reading_text(size.group.name, *accuracy));
      answers.push_back(!at_least(*accuracy, kSolved));
      if (&size != &widths.front()) answers.push_back(!exceeds(*accuracy, *narrow, 2 * kGain));
    }
  }
  return judged(all_of(answers), numbers.text());
}

// Hyena solves no width up to the length, and one above it.
Judgement needs_width_above_length(const Evidence& e) {
  Numbers numbers;
  std::vector<Answer> small, large;
  for (const std::vector<SizedGroup>& widths : lengths_and_widths(e, "hyena"))
    for (const SizedGroup& size : widths) {
      const auto accuracy = size.group.evidence.accuracy();
      if (!accuracy) return judged(why_none(size.group), "");
      numbers.add(reading_text(size.group.name, *accuracy));
      const bool above = size.width.get<double>() > size.length.get<double>();
      (above ? large : small).push_back(!at_least(*accuracy, kSolved));
    }
  if (small.empty() || large.empty()) return judged(no_such("widths of Hyena below and above the length"), "");
  return judged(all_of(small) && !all_of(large), numbers.text());
}

// At the widest, or at the smallest depth: who gains more from what.
Judgement scaling(const Evidence& e, const std::string& mixer, bool by_width) {
  const Evidence all = e.mixer(mixer);
  const auto layers = all.values("model.layers"), widths = all.values("model.width");
  if (layers.size() < 2 || widths.size() < 2) return judged(no_such("two depths and widths of " + mixer), "");
  const Group wide{mixer + " wide and shallow",
                   all.where("model.layers", layers.front()).where("model.width", widths.back())},
      deep{mixer + " narrow and deeper", all.where("model.layers", layers[1]).where("model.width", widths.front())};
  const auto one = wide.evidence.accuracy(), other = deep.evidence.accuracy();
  if (!one || !other) return judged(why_none(one ? deep : wide), "");
  return judged(by_width ? exceeds(*one, *other, 0.0) : exceeds(*other, *one, 0.0),
                reading_text(wide.name, *one) + ", " + reading_text(deep.name, *other));
}

Judgement two_layers_are_enough(const Evidence& e) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const std::string mixer : {"attention", "hyena", "mamba"})
    for (const Json& width : e.mixer(mixer).values("model.width")) {
      const Evidence here = e.mixer(mixer).where("model.width", width);
      const auto layers = here.values("model.layers");
      if (layers.empty() || layers.back().get<int>() <= 2) return judged(no_such("models of more than two layers"), "");
      const auto two = here.where("model.layers", 2).accuracy(),
                 more = here.where("model.layers", layers.back()).accuracy();
      if (!two || !more) return judged(why_none({mixer, here}), "");
      numbers.add(fmt::format("{} of width {} {} % with two layers and {} % with {}", mixer, width.dump(),
                              format_percent(two->mean()), format_percent(more->mean()), layers.back().dump()));
      answers.push_back(!exceeds(*more, *two, kGain));
    }
  return judged(all_of(answers), numbers.text());
}

struct Drops {
  std::size_t runs = 0, with_drop = 0, with_bump = 0, solved = 0;
};

std::optional<Drops> drops_of(const Evidence& e) {
  if (!e.accuracy() || !e.has_curves()) return {};
  Drops count;
  for (const ResultRow* row : e.chosen()) {
    const auto drops = find_loss_drops(row->metrics);
    ++count.runs;
    count.with_drop += drops.empty() ? 0 : 1;
    count.with_bump += std::any_of(drops.begin(), drops.end(), [](const LossDrop& drop) { return drop.bump; }) ? 1 : 0;
    count.solved += counted_test_accuracy(*row) >= kSolved ? 1 : 0;
  }
  return count;
}

Judgement loss_bump(const Evidence& e) {
  const Group attention{"attention", e.mixer("attention")};
  const auto drops = drops_of(attention.evidence);
  if (!drops) return judged(why_none(attention), "");
  return judged(answer(2 * drops->with_bump > drops->runs && drops->solved == 0),
                fmt::format("{} of {} runs of attention have a loss bump, {} solve the task", drops->with_bump,
                            drops->runs, drops->solved));
}

Judgement smooth_hyena(const Evidence& e) {
  const Group hyena{"hyena", e.mixer("hyena")};
  const auto drops = drops_of(hyena.evidence);
  if (!drops) return judged(why_none(hyena), "");
  return judged(answer(2 * drops->with_bump < drops->runs && 2 * drops->solved > drops->runs),
                fmt::format("{} of {} runs of Hyena have a loss bump, {} solve the task", drops->with_bump, drops->runs,
                            drops->solved));
}

Judgement mamba_bump(const Evidence& e) {
  const Group mamba{"mamba", e.mixer("mamba")};
  const auto drops = drops_of(mamba.evidence);
  if (!drops) return judged(why_none(mamba), "");
  return judged(answer(2 * drops->with_drop > drops->runs && 2 * drops->solved > drops->runs),
                fmt::format("{} of {} runs of Mamba have a sudden drop after a plateau, {} solve the task",
                            drops->with_drop, drops->runs, drops->solved));
}

// Table 1: whole strings, by "exact_match" of the test split.
struct CopyModels {
  Evidence attention, shallow, deep, wide;
};

std::optional<CopyModels> copy_models(const Evidence& e) {
  const Evidence mamba = e.mixer("mamba");
  const auto layers = mamba.values("model.layers"), widths = mamba.values("model.width");
  if (layers.size() < 2 || widths.size() < 2) return {};
  return CopyModels{e.mixer("attention"),
                    mamba.where("model.layers", layers.front()).where("model.width", widths.front()),
                    mamba.where("model.layers", layers.back()), mamba.where("model.width", widths.back())};
}

// Whole strings right: at least `least`, or at most `most`.
Judgement strings(const Evidence& e, Evidence CopyModels::*which, const std::string& name, double least, double most) {
  const auto models = copy_models(e);
  if (!models) return judged(no_such("deep and wide Mamba"), "");
  const Group group{name, (*models).*which};
  const auto right = group.evidence.metric("test.exact_match");
  if (!right) return judged(why_none(group), "");
  const std::string numbers = reading_text(name, *right) + " of the strings";
  return judged(least > 0 ? at_least(*right, least) : !at_least(*right, most), numbers);
}

Judgement wide_copies_better_than_deep(const Evidence& e) {
  const auto models = copy_models(e);
  if (!models) return judged(no_such("deep and wide Mamba"), "");
  const Group deep{"deep Mamba", models->deep}, wide{"wide Mamba", models->wide};
  const auto one = wide.evidence.metric("test.exact_match"), other = deep.evidence.metric("test.exact_match");
  if (!one || !other) return judged(why_none(one ? deep : wide), "");
  const std::string numbers = reading_text(deep.name, *other) + ", " + reading_text(wide.name, *one);
  if (reaches(*one, kSolved).is == Answer::Is::yes && reaches(*other, kSolved).is == Answer::Is::yes)
    return judged(unsure("both copy, so that neither is better"), numbers);
  return judged(exceeds(*one, *other, kGain), numbers);
}

Judgement equal_parameters(const Evidence& e) {
  const auto models = copy_models(e);
  if (!models) return judged(no_such("deep and wide Mamba"), "");
  const Group groups[] = {{"attention", models->attention}, {"deep Mamba", models->deep}, {"wide Mamba", models->wide}};
  Numbers numbers;
  double least = INFINITY, most = 0;
  for (const Group& group : groups) {
    const auto parameters = group.evidence.metric("parameters");
    if (!parameters) return judged(why_none(group), "");
    numbers.add(fmt::format("{} {:.0f}", group.name, parameters->values.front()));
    least = std::min(least, parameters->values.front()), most = std::max(most, parameters->values.front());
  }
  return judged(answer(most <= 1.1 * least), numbers.text());
}

}  // namespace

std::vector<Claim> scaling_claims() {
  const std::string gains = "at every length the widest is 5 points above the narrowest";
  const std::string width_words = "recurrent models always benefit from scaling in width";
  return {
      {"A.attention-width", "recall/fig3", "figure 3", "width does not help one layer of attention",
       "they fail to solve the task and increasing the hidden dimension does not affect their performance",
       "no width solves it, or is 10 points above the narrowest",
       [](const Evidence& e) { return width_does_not_help(e, "attention"); }},
      {"A.width-mamba", "recall/fig3", "figure 3", "width helps one layer of Mamba", width_words, gains,
       [](const Evidence& e) { return width_helps(e, "mamba"); }},
      {"A.width-hyena", "recall/fig3", "figure 3", "width helps one layer of Hyena", width_words, gains,
       [](const Evidence& e) { return width_helps(e, "hyena"); }},
      {"A.width-h3", "recall/fig3", "figures 3 and 12", "width helps one layer of H3", width_words, gains,
       [](const Evidence& e) { return width_helps(e, "h3"); }},
      {"A.width-rwkv", "recall/fig3", "figures 3 and 12", "width helps one layer of RWKV", width_words, gains,
       [](const Evidence& e) { return width_helps(e, "rwkv4"); }},
      {"A.one-layer-based", "recall/fig3", "figure 12", "one layer of Based does not solve MQAR at any width",
       "Attention models cannot solve the task anymore as in the 2-layer setting",
       "no width solves it, or is 10 points above the narrowest",
       [](const Evidence& e) { return width_does_not_help(e, "based"); }},
      {"A.hyena-length", "recall/fig3", "figure 6", "Hyena needs a width above the length",
       "Hyena requires the model dimension to exceed the sequence length",
       "one layer of Hyena reaches 90 % at no width up to the length, and at one above it", needs_width_above_length},
      {"A.scaling-attention", "recall/fig4", "figure 4", "attention gains more from depth than from width",
       "recurrent models benefit from scaling in width, while attention-based models benefit from scaling in depth",
       "the narrowest with the second depth beats the widest with the first",
       [](const Evidence& e) { return scaling(e, "attention", false); }},
      {"A.scaling-mamba", "recall/fig4", "figure 4", "Mamba gains more from width than from depth",
       "recurrent models benefit from scaling in width, while attention-based models benefit from scaling in depth",
       "the widest with the first depth beats the narrowest with the second",
       [](const Evidence& e) { return scaling(e, "mamba", true); }},
      {"A.depth-saturates", "recall/fig4", "section 4", "more than two layers add nothing",
       "increasing the number of layers to more than 2 does not provide any further improvement",
       "for no mixer and width the deepest is 5 points above two layers", two_layers_are_enough},
      {"A.copy-attention", "recall/table1", "table 1", "attention with RoPE copies",
       "Attention (RoPE), 12 x 1024: 100%", "at least 90 % of the strings are right",
       [](const Evidence& e) { return strings(e, &CopyModels::attention, "attention", kSolved, 0); }},
      {"A.copy-small", "recall/table1", "table 1", "a Mamba of the same depth and width as attention does not copy",
       "Mamba, 12 x 1024: 0%", "fewer than 10 % of the strings are right",
       [](const Evidence& e) { return strings(e, &CopyModels::shallow, "Mamba", 0, 0.1); }},
      {"A.copy-deep", "recall/table1", "table 1", "nor does a deeper one", "Mamba, 24 x 1024: 16%",
       "fewer than half of the strings are right",
       [](const Evidence& e) { return strings(e, &CopyModels::deep, "deep Mamba", 0, 0.5); }},
      {"A.copy-wide", "recall/table1", "table 1", "at equal parameters a wide Mamba copies better than a deep one",
       "a deeper but narrower Mamba fails to copy, whereas a shallower but wider Mamba with the same parameter count "
       "succeeds",
       "by 5 points of the strings", wide_copies_better_than_deep},
      {"A.copy-equal", "recall/table1", "table 1", "the models compared have equal parameters",
       "150, 150 and 150 million", "attention, deep and wide Mamba are within 10 % of each other", equal_parameters},
      {"A.loss-bump", "recall/fig6", "figure 6", "the loss of one-layer attention falls a second time without accuracy",
       "Attention shows a loss bump, but without accuracy gains",
       "most of its runs have a bump of the validation loss (src/report/stats/loss_drop.h) and none solves the task",
       loss_bump},
      {"A.smooth-hyena", "recall/fig6", "section 6", "Hyena's loss and accuracy improve together",
       "loss reductions align closely with increases in accuracy",
       "most of its runs have no loss bump, and most solve the task", smooth_hyena},
      {"A.bump-mamba", "recall/fig6", "section 6",
       "one layer of Mamba has a sudden drop of the loss, too, and solves the task",
       "we report a significant loss bump ... Mamba can successfully solve the task",
       "most of its runs have a drop of the validation loss after a plateau, and most solve the task", mamba_bump},
  };
}

}  // namespace mneme::report
