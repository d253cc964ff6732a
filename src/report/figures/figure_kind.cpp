#include "report/figures/figure_kind.h"

namespace mneme::report {

Field title_field() { return text_field("title", "", "title of the figure; empty: the study's title"); }

Field threshold_field(std::string help) { return real_field("threshold", 0.9, 0.0, 1.0, std::move(help)); }

Field panels_field(Json fallback) {
  return texts_field("panels", std::move(fallback),
                     "fields of the configuration that split the figure into panels, if they vary");
}

Field marks_field() { return reals_field("marks", Json::array(), 0, 1e6, "rates of a coarser grid, to compare with"); }

std::string figure_title(const FigureSubject& subject, const Options& options) {
  const std::string own = options.text("title");
  return own.empty() ? subject.title : own;
}

}  // namespace mneme::report
