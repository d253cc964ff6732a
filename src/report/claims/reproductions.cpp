#include "report/claims/reproductions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace mneme::report {

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> list = {
      {"A.fig1", {}, "recall/fig1", "learning-rate windows of attention, Hyena and Mamba on MQAR"},
      {"A.fig2", {"A.fig11"}, "recall/fig2", "accuracy against width, two layers, with two grids of rates"},
      {"A.fig3", {"A.fig12"}, "recall/fig3", "accuracy against width, one layer"},
      {"A.fig4", {}, "recall/fig4", "width against depth"},
      {"A.fig5", {}, "recall/fig5", "learning-rate windows on copying"},
      {"A.table1", {}, "recall/table1", "copying: deep against wide at equal parameters"},
      {"A.fig6", {}, "recall/fig6", "how one-layer models learn, and the loss bump"},
      {"A.table3", {"A.table2"}, "recall/table3", "attention with convolutions, Mamba taken apart"},
      {"A.table4", {}, "recall/table4", "positions for recurrent mixers"},
      {"A.fig7", {}, "recall/fig7", "learning-rate windows of Mamba2 and DeltaNet"},
      {"A.fig13", {}, "recall/fig13", "learning-rate windows with twelve layers"},
      {"B.table1", {"B.fig4"}, "memory/table1", "state tracking over long words"},
      {"B.table2", {}, "memory/table2", "state tracking: extrapolation from short words"},
      {"B.ids4", {}, "memory/ids4", "how long words may be before IDS4 overflows"},
      {"B.table3",
       {"B.fig1", "B.fig5", "B.fig6", "B.fig7", "B.fig8"},
       "memory/table3",
       "copying and denoising, similar numbers of parameters"},
      {"B.fig9",
       {"B.fig10", "B.fig11", "B.fig12", "B.fig13", "B.fig14", "B.fig15", "B.fig16"},
       "memory/table3-hidden",
       "copying and denoising, the same hidden size"},
      {"B.table4", {"B.fig2"}, "memory/table4", "when the signal goes off"},
      {"B.table5", {"B.fig3"}, "memory/table5", "phase alignment"},
      {"B.table6", {}, "memory/table2", "sizes for state tracking", true},
      {"B.table7", {}, "memory/table3", "sizes for copying and denoising", true},
      {"B.table8", {}, "memory/table4", "sizes for counting", true},
  };
  return list;
}

const Paper& find_paper(std::string_view letter) {
  static const std::vector<Paper> papers = {{"A", "Revisiting associative recall in modern recurrent models"},
                                            {"B", "On memory and generalization in the era of linear recurrence"}};
  for (const Paper& paper : papers)
    if (paper.letter == letter) return paper;
  throw Error(ErrorKind::usage, "--paper", fmt::format("got '{}', expected A or B", letter));
}

std::vector<const Reproduction*> reproductions_of(const Paper& paper) {
  std::vector<const Reproduction*> items;
  for (const Reproduction& item : reproductions())
    if (item.id.starts_with(paper.letter + ".")) items.push_back(&item);
  return items;
}

const Reproduction* reproduction_by(std::string_view study) {
  for (const Reproduction& item : reproductions())
    if (item.study == study && !item.sizes) return &item;
  return nullptr;
}

const Reproduction& find_reproduction(std::string_view id) {
  std::vector<std::string> known;
  for (const Reproduction& one : reproductions()) {
    if (one.id == id || std::find(one.also.begin(), one.also.end(), id) != one.also.end()) return one;
    known.push_back(one.id);
    known.insert(known.end(), one.also.begin(), one.also.end());
  }
  throw Error(ErrorKind::usage, "reproduce", fmt::format("unknown figure or table '{}'{}", id, suggestion(id, known)));
}

}  // namespace mneme::report
