// Linear layers whose reference does not use torch's defaults.
#pragma once

#include "nn/draw.h"

namespace mneme::nn {

// A module whose linear layers have an initialisation of their own. It is carried out by the scheme "own" alone,
// after all others: the other schemes redraw every linear layer.
class OwnLinears {
 public:
  virtual ~OwnLinears() = default;
  // `prefix` is the module's full name followed by a dot.
  virtual void initialise_linears(const Draw& draw, const std::string& prefix) = 0;
};

// A random matrix whose rows or columns (whichever are fewer) are orthonormal, times `gain`.
void draw_orthogonal(const Draw& draw, torch::Tensor matrix, const std::string& name, double gain);

}  // namespace mneme::nn
