#include "measure/step_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mneme::measure {
namespace {

// products: libtorch's matrix multiplications; libtorch: its other operations; autograd: walking the graph;
// kernels: ours, and whatever else is plain C++.
const char* kind_of(const std::string& operation) {
  static const std::set<std::string> products = {"aten::mm",      "aten::bmm",      "aten::addmm", "aten::addmm_",
                                                 "aten::baddbmm", "aten::baddbmm_", "aten::mv",    "aten::addmv"};
  if (products.contains(operation)) return "products";
  if (operation.starts_with("aten::")) return "libtorch";
  const bool graph = operation == ops::kEngine || operation.find("Backward") != operation.npos ||
                     operation.starts_with("torch::autograd::");
  return graph ? "autograd" : "kernels";
}

double total_seconds(std::span<const ops::ProfileCell> cells) {
  double total = 0;
  for (const ops::ProfileCell& cell : cells) total += cell.seconds;
  return total;
}

void sort_by_seconds(Json& list) {
  std::sort(list.begin(), list.end(),
            [](const Json& a, const Json& b) { return a["seconds"].get<double>() > b["seconds"].get<double>(); });
}

void add(Json& object, const char* key, double value) { object[key] = object.value(key, 0.0) + value; }

}  // namespace

Json step_parts(std::span<const ops::ProfileCell> cells, std::size_t steps, const config::RunConfig& run) {
  const double total = total_seconds(cells);
  std::map<std::string, Json> parts;
  for (const ops::ProfileCell& cell : cells) {
    Json& part = parts[cell.part];
    if (part.is_null())
      part = {
          {"part", cell.part}, {"seconds", 0.0},
          {"forward", 0.0},    {"backward", 0.0},
          {"share", 0.0},      {"kinds", {{"products", 0.0}, {"kernels", 0.0}, {"libtorch", 0.0}, {"autograd", 0.0}}}};
    const double seconds = cell.seconds / static_cast<double>(steps);
    add(part, "seconds", seconds);
    add(part, cell.backward ? "backward" : "forward", seconds);
    add(part, "share", cell.seconds / total);
    add(part["kinds"], kind_of(cell.operation), seconds);
  }
  const auto batch = static_cast<double>(run.train.integer("batch"));
  for (const auto& [name, flops] : run.forward_flops_by_part())
    // Backward is twice the work of forward.
    if (parts.contains(name)) parts[name]["useful_flop"] = 3.0 * batch * flops;
  Json list = Json::array();
  for (auto& [name, part] : parts) list.push_back(std::move(part));
  sort_by_seconds(list);
  return list;
}

Json step_operations(std::span<const ops::ProfileCell> cells, std::size_t steps) {
  const double total = total_seconds(cells), count = static_cast<double>(steps);
  std::map<std::pair<std::string, std::string>, Json> operations;
  for (const ops::ProfileCell& cell : cells) {
    Json& row = operations[{cell.part, cell.operation}];
    if (row.is_null())
      row = {{"part", cell.part},
             {"operation", cell.operation},
             {"kind", kind_of(cell.operation)},
             {"seconds", 0.0},
             {"forward", 0.0},
             {"backward", 0.0},
             {"share", 0.0},
             {"calls", 0.0}};
    add(row, "seconds", cell.seconds / count);
    add(row, cell.backward ? "backward" : "forward", cell.seconds / count);
    add(row, "share", cell.seconds / total);
    add(row, "calls", static_cast<double>(cell.calls) / count);
  }
  Json list = Json::array();
  for (auto& [key, row] : operations) list.push_back(std::move(row));
  sort_by_seconds(list);
  return list;
}

}  // namespace mneme::measure
