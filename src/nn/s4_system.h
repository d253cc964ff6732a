// The state-space model of an S4 layer: diagonal plus low rank, one per channel (docs/mixers/s4.md).
#pragma once

#include "nn/draw.h"
#include "ops/torch.h"

namespace mneme::nn {

class S4System : public torch::nn::Module, public SelfInitialised {
 public:
  struct Shape {
    std::int64_t channels, modes, rank, copies;  // H, n = N/2, r, S
    std::int64_t nodes;                          // M: the length for which the stored C is prepared
  };
  S4System(const Shape& shape, double dt_min, double dt_max);

  // The convolution kernel [length, H] in the type of `like`.
  torch::Tensor kernel(std::int64_t length, const torch::Tensor& like) const;

  // What a step needs, per channel [H, n] (P and R: [r, H, n]), complex128.
  struct Recurrence {
    torch::Tensor E, Dg, P, R, B, C;
  };
  Recurrence recurrence() const;

  void initialise(const Draw& draw, const std::string& prefix) override;

 private:
  // The continuous system with every channel's own copy: lambda, B, C [H, n], P [r, H, n] complex128, dt [H, 1].
  struct Continuous {
    torch::Tensor lambda, B, C, P, dt;
  };
  Continuous continuous() const;
  // The bilinear transition matrix on stored half and conjugates together, [H, N, N].
  static torch::Tensor transition(const Continuous& system);

  Shape shape_;
  double log_dt_min_, log_dt_max_;
  torch::Tensor inv_dt_, C_, B_, A_real_, A_imag_, P_;
};

}  // namespace mneme::nn
