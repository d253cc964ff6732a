// How each token moves the states of a model on: the derivative of a state by the state before, at the real inputs.
#pragma once

#include <string>
#include <vector>

#include "inspect/subject.h"

namespace mneme::inspect {

struct Transitions {
  std::string module;
  std::string mixer;  // its name in the catalog
  std::int64_t layer = 0;
  std::string left_out;    // why there are none; "": there are
  std::int64_t lanes = 0;  // parts of the state that do not act on each other; `A` has some or all of them
  // [T, lanes, n, n], row i: how element i of a lane depends on the elements before. For a linear recurrence these are
  // its transition matrices; n is 1 where every element has its own multiplier.
  torch::Tensor A;
};

// Of every mixer that is not pointwise, for one example [1, L]; at most `tokens` of its tokens.
std::vector<Transitions> transitions(const Subject& subject, const torch::Tensor& input, std::int64_t tokens);

}  // namespace mneme::inspect
