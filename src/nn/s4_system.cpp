#include "nn/s4_system.h"

#include <cmath>

#include "nn/hippo.h"
#include "ops/cauchy.h"
#include "ops/path.h"

namespace mneme::nn {
namespace {

using torch::Tensor;

// B grows with the mode; the original keeps its imaginary part within this.
constexpr double kClip = 2.0;
constexpr double kSmallestFrequency = 1e-4;

Tensor complex_of(const Tensor& stored) { return torch::view_as_complex(stored.to(torch::kFloat64).contiguous()); }

Tensor with_conjugates(const Tensor& half) { return torch::cat({half, half.conj()}, -1); }

Tensor identity(const Tensor& like) { return torch::eye(like.size(-1), like.options()); }

// c M for a row vector per channel, stored half only: the other half of the result is its conjugate.
Tensor row_times(const Tensor& c, const Tensor& matrix) {
  return torch::matmul(with_conjugates(c).unsqueeze(1), matrix).squeeze(1).narrow(1, 0, c.size(1));
}

}  // namespace

S4System::S4System(const Shape& shape, double dt_min, double dt_max)
    : shape_(shape), log_dt_min_(std::log(dt_min)), log_dt_max_(std::log(dt_max)) {
  const auto [H, n, r, S, M] = shape;
  inv_dt_ = register_parameter("inv_dt", torch::zeros({H, 1}));
  C_ = register_parameter("C", torch::zeros({1, H, n, 2}));
  B_ = register_parameter("B", torch::zeros({1, S, n, 2}));
  A_real_ = register_parameter("A_real", torch::zeros({S, n}));
  A_imag_ = register_parameter("A_imag", torch::zeros({S, n}));
  P_ = register_parameter("P", torch::zeros({r, S, n, 2}));
}

S4System::Continuous S4System::continuous() const {
  Continuous system;
  system.lambda = torch::complex(-torch::exp(A_real_.to(torch::kFloat64)), -A_imag_.to(torch::kFloat64));
  system.B = complex_of(B_).squeeze(0);
  system.P = complex_of(P_);
  if (shape_.copies != shape_.channels) {
    const Tensor copy = torch::arange(shape_.channels, A_real_.options().dtype(torch::kInt64)) % shape_.copies;
    system.lambda = system.lambda.index_select(0, copy);
    system.B = system.B.index_select(0, copy);
    system.P = system.P.index_select(1, copy);
  }
  system.C = complex_of(C_).squeeze(0);
  system.dt = torch::exp(inv_dt_.to(torch::kFloat64));
  return system;
}

Tensor S4System::transition(const Continuous& system) {
  const Tensor P = with_conjugates(system.P);  // [r, H, N]
  const Tensor A = torch::diag_embed(with_conjugates(system.lambda)) -
                   torch::matmul(P.permute({1, 2, 0}), P.conj().permute({1, 0, 2}));
  const Tensor half = 0.5 * system.dt.unsqueeze(2) * A, I = identity(A);
  return torch::linalg_solve(I - half, I + half);
}

Tensor S4System::kernel(std::int64_t length, const Tensor& like) const {
  const Continuous system = continuous();
  Tensor C = system.C;
  std::int64_t M = shape_.nodes;
  // Twice the nodes and C (I + A^M) are the same system, prepared for twice the length.
  if (M < length) {
    Tensor power = torch::linalg_matrix_power(transition(system), M);
    for (; M < length; M *= 2) {
      C = C + row_times(C, power);
      if (2 * M < length) power = torch::matmul(power, power);
    }
  }

  const std::int64_t r = shape_.rank;
  std::vector<Tensor> weights = {system.B * C};
  for (std::int64_t j = 0; j < r; ++j) weights.push_back(system.B * system.P[j].conj());
  for (std::int64_t i = 0; i < r; ++i) weights.push_back(system.P[i] * C);
  for (std::int64_t i = 0; i < r; ++i)
    for (std::int64_t j = 0; j < r; ++j) weights.push_back(system.P[i] * system.P[j].conj());
  const Tensor sums =
      ops::cauchy_sums(system.dt * torch::stack(weights), system.dt * system.lambda, M, ops::use_kernels(like));

  // Woodbury's identity for the low-rank part.
  const Tensor eta = ops::half_sum_nodes(M, C.options());
  const Tensor into = sums.narrow(0, 1, r), out = sums.narrow(0, 1 + r, r);           // [r, H, F]
  const Tensor loop = (eta * sums.narrow(0, 1 + 2 * r, r * r)).unflatten(0, {r, r});  // [r, r, H, F]
  Tensor correction;
  if (r == 1) {
    correction = into[0] * out[0] / (1.0 + loop[0][0]);
  } else {
    const Tensor matrix = loop.permute({2, 3, 0, 1});
    const Tensor solved = torch::linalg_solve(matrix + identity(matrix), out.permute({1, 2, 0}).unsqueeze(3));
    correction = (into.permute({1, 2, 0}) * solved.squeeze(3)).sum(2);
  }
  return torch::fft_irfft(sums[0] - eta * correction, M).narrow(1, 0, length).t().to(like.options());
}

S4System::Recurrence S4System::recurrence() const {
  const Continuous system = continuous();
  const Tensor scale = 2.0 / system.dt, Q = system.P.conj();
  Recurrence result;
  result.E = scale + system.lambda;
  result.Dg = 1.0 / (scale - system.lambda);
  result.P = system.P;
  result.B = 2.0 * system.B;
  const Tensor QD = Q * result.Dg;  // [r, H, n]
  const Tensor loop =
      2.0 * torch::real(torch::matmul(QD.permute({1, 0, 2}), system.P.permute({1, 2, 0})));  // [H, r, r]
  result.R = torch::matmul(torch::linalg_inv(loop + identity(loop)).to(torch::kComplexDouble), QD.permute({1, 0, 2}))
                 .permute({1, 0, 2});
  const Tensor A = transition(system);
  result.C = row_times(system.C, torch::linalg_inv(identity(A) - torch::linalg_matrix_power(A, shape_.nodes)));
  return result;
}

void S4System::initialise(const Draw& draw, const std::string& prefix) {
  const torch::NoGradGuard guard;
  draw.values(inv_dt_, prefix + "inv_dt", [this](Random& random, std::int64_t) {
    return log_dt_min_ + random.uniform() * (log_dt_max_ - log_dt_min_);
  });
  const HippoLegS hippo = hippo_legs(2 * shape_.modes);
  A_real_.fill_(std::log(0.5));
  A_imag_.copy_((-hippo.frequency).clamp_min(kSmallestFrequency).expand_as(A_imag_));
  const Tensor B = torch::stack({torch::real(hippo.B), torch::imag(hippo.B).clamp(-kClip, kClip)}, 1);
  B_.copy_(B.expand_as(B_));
  P_.zero_();
  P_.select(0, 0).copy_(torch::view_as_real(hippo.P).expand_as(P_.select(0, 0)));
  draw.normal(C_, prefix + "C", std::sqrt(0.5));
  const Continuous system = continuous();
  const Tensor power = torch::linalg_matrix_power(transition(system), shape_.nodes);
  C_.copy_(torch::view_as_real((system.C - row_times(system.C, power)).contiguous()).unsqueeze(0));
}

}  // namespace mneme::nn
