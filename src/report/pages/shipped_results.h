// The kept results of the folder results/, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace mneme::report {

struct ShippedResults {
  std::string_view name;  // "B.table2.laptop": item and scale
  std::string_view text;  // report/stats/result_file.h
};

// By name.
std::span<const ShippedResults> shipped_result_files();

}  // namespace mneme::report
