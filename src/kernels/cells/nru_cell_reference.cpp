#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cells/nru_cell.h"

namespace mneme::kernels {
namespace {

constexpr double kEpsilon = 1e-5, kSmallestNorm = 1e-12;

float narrow(double x) { return static_cast<float>(x); }
double positive(double x) { return x <= 0 ? 0.0 : x; }  // a NaN stays

struct Normal {
  double mean, scale;  // scale = 1 / sqrt(variance + eps)
};

Normal normal_of(const float* p, std::size_t H) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < H; ++i) mean += p[i];
  mean /= static_cast<double>(H);
  for (std::size_t i = 0; i < H; ++i) variance += (p[i] - mean) * (p[i] - mean);
  return {mean, 1.0 / std::sqrt(variance / static_cast<double>(H) + kEpsilon)};
}

// The entries of one outer product and the norm of each head's piece.
struct Stream {
  Stream(const NruShape& shape, bool relu, const float* u) {
    const std::size_t s = shape.s, M = shape.M;
    for (std::size_t i = 0; i < s * s; ++i) {
      const double v = static_cast<double>(u[i / s]) * u[s + i % s];
      values.push_back(relu ? positive(v) : v);
    }
    for (std::size_t j = 0; j < shape.k; ++j) {
      double largest = 0, sum = 0;
      for (std::size_t i = 0; i < M; ++i) largest = std::max(largest, std::abs(values[j * M + i]));
      for (std::size_t i = 0; i < M && largest > 0; ++i) sum += std::pow(std::abs(values[j * M + i]) / largest, 5);
      norms.push_back(largest * std::pow(sum, 0.2));
    }
  }
  std::vector<double> values, norms;
};

}  // namespace

void nru_hidden_reference(const NruHiddenInput& in, float* q) {
  const std::size_t H = in.shape.H, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float* p = in.p + r * H;
    const Normal normal = normal_of(p, H);
    for (std::size_t i = 0; i < H; ++i)
      q[r * W + i] = narrow(positive(in.gain ? (p[i] - normal.mean) * normal.scale * in.gain[i] + in.shift[i] : p[i]));
    std::copy(in.old + r * W + H, in.old + (r + 1) * W, q + r * W + H);
  }
}

void nru_hidden_backward_reference(const NruHiddenInput& in, const float* q, const float* dq,
                                   const NruHiddenGradients& to) {
  const std::size_t H = in.shape.H, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float* p = in.p + r * H;
    std::fill(to.dold + r * W, to.dold + r * W + H, 0.0F);
    std::copy(dq + r * W + H, dq + (r + 1) * W, to.dold + r * W + H);
    std::vector<double> g(H);
    for (std::size_t i = 0; i < H; ++i) g[i] = q[r * W + i] > 0 ? dq[r * W + i] : 0.0;
    if (in.gain) {
      const Normal normal = normal_of(p, H);
      double sum = 0, along = 0;
      for (std::size_t i = 0; i < H; ++i) {
        const double y = (p[i] - normal.mean) * normal.scale;
        to.dgain[i] = narrow(to.dgain[i] + g[i] * y);
        to.dshift[i] = narrow(to.dshift[i] + g[i]);
        g[i] *= in.gain[i];
        sum += g[i];
        along += g[i] * y;
      }
      for (std::size_t i = 0; i < H; ++i) {
        const double y = (p[i] - normal.mean) * normal.scale;
        g[i] = normal.scale * (g[i] - (sum + y * along) / static_cast<double>(H));
      }
    }
    std::transform(g.begin(), g.end(), to.dp + r * H, narrow);
  }
}

void nru_memory_reference(const NruMemoryInput& in, float* next) {
  const auto [R, H, M, k, s] = in.shape;
  const std::size_t W = in.shape.state();
  for (std::size_t r = 0; r < R; ++r) {
    const float* o = in.o + r * in.shape.outputs();
    const Stream write(in.shape, in.relu, o + 2 * k), erase(in.shape, in.relu, o + 2 * k + 2 * s);
    std::copy(in.q + r * W, in.q + r * W + H, next + r * W);
    for (std::size_t i = 0; i < M; ++i) {
      double change = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const double alpha = in.relu ? positive(o[j]) : o[j], beta = in.relu ? positive(o[k + j]) : o[k + j];
        change += alpha * write.values[j * M + i] / std::max(write.norms[j], kSmallestNorm) -
                  beta * erase.values[j * M + i] / std::max(erase.norms[j], kSmallestNorm);
      }
      next[r * W + H + i] = narrow(in.q[r * W + H + i] + change / static_cast<double>(k));
    }
  }
}

void nru_memory_backward_reference(const NruMemoryInput& in, const float* dnext, float* all_d_o) {
  const auto [R, H, M, k, s] = in.shape;
  const std::size_t W = in.shape.state(), G = in.shape.outputs();
  for (std::size_t r = 0; r < R; ++r)
    for (const std::size_t which : {0, 1}) {
      const float *o = in.o + r * G, *u = o + 2 * k + 2 * s * which, *dm = dnext + r * W + H;
      float *d_o = all_d_o + r * G, *du = d_o + 2 * k + 2 * s * which;
      const Stream stream(in.shape, in.relu, u);
      std::vector<double> du_exact(2 * s, 0.0);
      for (std::size_t j = 0; j < k; ++j) {
        const double sign = (which == 0 ? 1.0 : -1.0) / static_cast<double>(k);
        const float gate = o[which * k + j];
        const bool closed = in.relu && gate <= 0;
        const double norm = std::max(stream.norms[j], kSmallestNorm);
        double dgate = 0;
        for (std::size_t i = 0; i < M; ++i) dgate += sign * dm[i] * stream.values[j * M + i] / norm;
        d_o[which * k + j] = closed ? 0.0F : narrow(dgate);
        if (closed) continue;
        for (std::size_t i = 0; i < M; ++i) {
          const std::size_t at = j * M + i;
          const double w = stream.values[at] / norm;
          if (in.relu && !(stream.values[at] > 0)) continue;
          double g = sign * gate * dm[i];
          if (stream.norms[j] > kSmallestNorm) g -= gate * dgate * std::copysign(w * w * w * w, w);
          g /= norm;
          du_exact[at / s] += g * u[s + at % s];
          du_exact[s + at % s] += g * u[at / s];
        }
      }
      std::transform(du_exact.begin(), du_exact.end(), du, narrow);
    }
}

void nru_plain_reference(const NruPlainInput& in, float* next) {
  const std::size_t H = in.shape.H, M = in.shape.M, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float* o = in.o + r * (H + 2 + 2 * M);
    for (std::size_t i = 0; i < H; ++i) next[r * W + i] = narrow(positive(o[i]));
    for (std::size_t i = 0; i < M; ++i)
      next[r * W + H + i] = narrow(in.old[r * W + H + i] + positive(o[H]) * positive(o[H + 2 + i]) -
                                   positive(o[H + 1]) * positive(o[H + 2 + M + i]));
  }
}

void nru_plain_backward_reference(const NruPlainInput& in, const float* all_dnext, const NruPlainGradients& to) {
  const std::size_t H = in.shape.H, M = in.shape.M, W = in.shape.state();
  for (std::size_t r = 0; r < in.shape.R; ++r) {
    const float *o = in.o + r * (H + 2 + 2 * M), *dnext = all_dnext + r * W, *dm = dnext + H;
    float *d_o = to.d_o + r * (H + 2 + 2 * M), *dold = to.dold + r * W;
    for (std::size_t i = 0; i < H; ++i) {
      d_o[i] = o[i] > 0 ? dnext[i] : 0.0F;
      dold[i] = 0.0F;
    }
    double dalpha = 0, dbeta = 0;
    for (std::size_t i = 0; i < M; ++i) {
      const float write = o[H + 2 + i], erase = o[H + 2 + M + i];
      dalpha += dm[i] * positive(write);
      dbeta -= dm[i] * positive(erase);
      d_o[H + 2 + i] = write > 0 ? narrow(dm[i] * positive(o[H])) : 0.0F;
      d_o[H + 2 + M + i] = erase > 0 ? narrow(-dm[i] * positive(o[H + 1])) : 0.0F;
      dold[H + i] = dm[i];
    }
    d_o[H] = o[H] > 0 ? narrow(dalpha) : 0.0F;
    d_o[H + 1] = o[H + 1] > 0 ? narrow(dbeta) : 0.0F;
  }
}

}  // namespace mneme::kernels
