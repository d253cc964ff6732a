// An observer of a running model that may change what it sees.
//
// Each layer shows what goes into and comes out of its parts. A walk without a watcher tests one pointer at each of
// these places and computes what it always has, to the bit.
#pragma once

#include <cstdint>

#include "ops/torch.h"

namespace mneme::models {

// Where in a layer. The output of a block is the input of the next one; after the last it is what the final norm reads.
enum class Place : std::uint8_t {
  block_input,   // the residual stream, or what the layer reads if there is none
  mixer_input,   // what the sequence mixer reads: after the norm and the rotation of positions
  mixer_output,  // its branch
  mlp_input,     // the same of the state mixer, where there is one
  mlp_output,
  block_output,
};

struct Site {
  std::int64_t layer = 0;  // 0-based
  Place place = Place::block_input;
  friend bool operator==(const Site&, const Site&) = default;
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  // x is [B, L, D], or [B, D] in a step. The model goes on with what is returned: x itself, or a tensor of its shape.
  virtual torch::Tensor visit(const Site& site, const torch::Tensor& x) = 0;
};

}  // namespace mneme::models
