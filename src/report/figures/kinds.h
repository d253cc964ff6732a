// The one list of kinds of figures.
#pragma once

#include <vector>

#include "core/config.h"
#include "report/figures/figure_kind.h"

namespace mneme::report {

const std::vector<FigureKind>& figure_kinds();

// A figure that a study asks for, checked.
struct FigureRequest {
  const FigureKind* kind = nullptr;
  Options options;
};

// The [figure] tables of a study (study.h: Study::figures); none ask for a learning-rate window. Throws Error(usage)
// with the place for an unknown kind or option.
std::vector<FigureRequest> figure_requests(const std::vector<ConfigValue>& written);

// One figure of a kind with every option at its default.
FigureRequest default_figure(std::string_view kind = "lr-window");

}  // namespace mneme::report
