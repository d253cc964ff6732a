#include "report/figures/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "report/figures/figure_accuracy_width.h"
#include "report/figures/figure_cost.h"
#include "report/figures/figure_dynamics.h"
#include "report/figures/figure_extrapolation.h"
#include "report/figures/figure_matrix.h"
#include "report/figures/figure_places.h"
#include "report/figures/figure_signal.h"
#include "report/figures/figure_width_depth.h"
#include "report/figures/lr_window_kind.h"

namespace mneme::report {
namespace {

const FigureKind& find_kind(std::string_view name, std::string_view origin) {
  std::vector<std::string> known;
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw Error(ErrorKind::usage, origin, fmt::format("figure.kind: unknown kind '{}'{}", name, suggestion(name, known)));
}

FigureRequest request(const ConfigValue& table) {
  if (!table.is_table())
    throw Error(ErrorKind::usage, table.origin, fmt::format("figure: got {}, expected a table", table.shown()));
  const ConfigValue* written = table.find("kind");
  const auto* name = written ? std::get_if<std::string>(&written->value) : nullptr;
  if (written && !name)
    throw Error(ErrorKind::usage, written->origin,
                fmt::format("figure.kind: got {}, expected a string", written->shown()));
  const FigureKind& kind = find_kind(name ? *name : "lr-window", written ? written->origin : table.origin);
  return {&kind, resolve(kind.options, &table, "figure", {"kind"})};
}

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds = {
      lr_window_kind(), accuracy_width_kind(), width_depth_kind(), dynamics_kind(),    extrapolation_kind(),
      matrix_kind(),    signal_kind(),         cost_kind(),        by_distance_kind(), by_position_kind(),
  };
  return kinds;
}

std::vector<FigureRequest> figure_requests(const std::vector<ConfigValue>& written) {
  if (written.empty()) return {default_figure()};
  std::vector<FigureRequest> requests;
  for (const ConfigValue& table : written) requests.push_back(request(table));
  return requests;
}

FigureRequest default_figure(std::string_view name) {
  const FigureKind& kind = find_kind(name, "figure");
  return {&kind, defaults(kind.options, "figure")};
}

}  // namespace mneme::report
