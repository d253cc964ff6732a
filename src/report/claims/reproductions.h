// The figures and tables of the two papers, and the study that repeats each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::report {

struct Reproduction {
  std::string id;                 // "A.fig3"
  std::vector<std::string> also;  // other figures and tables that the same runs make: "A.fig12"
  std::string study;              // "recall/fig3"
  std::string what;               // one line
  bool sizes = false;             // only counts the parameters of the study's models at the paper's sizes: no runs
};

// The one list, in the order of the papers.
const std::vector<Reproduction>& reproductions();

struct Paper {
  std::string letter;  // "A": what the names of its figures and tables begin with
  std::string title;
};
// Throws Error(usage).
const Paper& find_paper(std::string_view letter);
std::vector<const Reproduction*> reproductions_of(const Paper& paper);

// By any of its names. Throws Error(usage) with the nearest known one.
const Reproduction& find_reproduction(std::string_view id);

// The item whose runs a study's are, or nullptr: a study of one's own.
const Reproduction* reproduction_by(std::string_view study);

}  // namespace mneme::report
