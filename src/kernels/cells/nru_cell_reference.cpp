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
  Stream(const NruSizes& sizes, bool relu, const float* u) {
    const std::size_t s = sizes.side, M = sizes.memory;
    for (std::size_t i = 0; i < s * s; ++i) {
      const double v = static_cast<double>(u[i / s]) * u[s + i % s];
      values.push_back(relu ? positive(v) : v);
    }
    for (std::size_t j = 0; j < sizes.heads; ++j) {
      double largest = 0, sum = 0;
      for (std::size_t i = 0; i < M; ++i) largest = std::max(largest, std::abs(values[j * M + i]));
      for (std::size_t i = 0; i < M && largest > 0; ++i) sum += std::pow(std::abs(values[j * M + i]) / largest, 5);
      norms.push_back(largest * std::pow(sum, 0.2));
    }
  }
  std::vector<double> values, norms;
};

}  // namespace

void nru_hidden_reference(const NruHiddenArguments& a) {
  const std::size_t H = a.sizes.hidden, W = a.sizes.state();
  for (std::size_t r = 0; r < a.sizes.rows; ++r) {
    const float* p = a.p + r * H;
    const Normal normal = normal_of(p, H);
    for (std::size_t i = 0; i < H; ++i)
      a.q[r * W + i] = narrow(positive(a.gain ? (p[i] - normal.mean) * normal.scale * a.gain[i] + a.shift[i] : p[i]));
    std::copy(a.old + r * W + H, a.old + (r + 1) * W, a.q + r * W + H);
  }
}

void nru_hidden_backward_reference(const NruHiddenBackwardArguments& a) {
  const std::size_t H = a.sizes.hidden, W = a.sizes.state();
  for (std::size_t r = 0; r < a.sizes.rows; ++r) {
    const float* p = a.p + r * H;
    std::fill(a.dold + r * W, a.dold + r * W + H, 0.0F);
    std::copy(a.dq + r * W + H, a.dq + (r + 1) * W, a.dold + r * W + H);
    std::vector<double> g(H);
    for (std::size_t i = 0; i < H; ++i) g[i] = a.q[r * W + i] > 0 ? a.dq[r * W + i] : 0.0;
    if (a.gain) {
      const Normal normal = normal_of(p, H);
      double sum = 0, along = 0;
      for (std::size_t i = 0; i < H; ++i) {
        const double y = (p[i] - normal.mean) * normal.scale;
        a.dgain[i] = narrow(a.dgain[i] + g[i] * y);
        a.dshift[i] = narrow(a.dshift[i] + g[i]);
        g[i] *= a.gain[i];
        sum += g[i];
        along += g[i] * y;
      }
      for (std::size_t i = 0; i < H; ++i) {
        const double y = (p[i] - normal.mean) * normal.scale;
        g[i] = normal.scale * (g[i] - (sum + y * along) / static_cast<double>(H));
      }
    }
    std::transform(g.begin(), g.end(), a.dp + r * H, narrow);
  }
}

void nru_memory_reference(const NruMemoryArguments& a) {
  const auto [R, H, M, k, s] = a.sizes;
  const std::size_t W = a.sizes.state();
  for (std::size_t r = 0; r < R; ++r) {
    const float* o = a.o + r * a.sizes.outputs();
    const Stream write(a.sizes, a.relu, o + 2 * k), erase(a.sizes, a.relu, o + 2 * k + 2 * s);
    std::copy(a.q + r * W, a.q + r * W + H, a.next + r * W);
    for (std::size_t i = 0; i < M; ++i) {
      double change = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const double alpha = a.relu ? positive(o[j]) : o[j], beta = a.relu ? positive(o[k + j]) : o[k + j];
        change += alpha * write.values[j * M + i] / std::max(write.norms[j], kSmallestNorm) -
                  beta * erase.values[j * M + i] / std::max(erase.norms[j], kSmallestNorm);
      }
      a.next[r * W + H + i] = narrow(a.q[r * W + H + i] + change / static_cast<double>(k));
    }
  }
}

void nru_memory_backward_reference(const NruMemoryBackwardArguments& a) {
  const auto [R, H, M, k, s] = a.sizes;
  const std::size_t W = a.sizes.state(), G = a.sizes.outputs();
  for (std::size_t r = 0; r < R; ++r)
    for (const std::size_t which : {0, 1}) {
      const float *o = a.o + r * G, *u = o + 2 * k + 2 * s * which, *dm = a.dnext + r * W + H;
      float *d_o = a.d_o + r * G, *du = d_o + 2 * k + 2 * s * which;
      const Stream stream(a.sizes, a.relu, u);
      std::vector<double> du_exact(2 * s, 0.0);
      for (std::size_t j = 0; j < k; ++j) {
        const double sign = (which == 0 ? 1.0 : -1.0) / static_cast<double>(k);
        const float gate = o[which * k + j];
        const bool closed = a.relu && gate <= 0;
        const double norm = std::max(stream.norms[j], kSmallestNorm);
        double dgate = 0;
        for (std::size_t i = 0; i < M; ++i) dgate += sign * dm[i] * stream.values[j * M + i] / norm;
        d_o[which * k + j] = closed ? 0.0F : narrow(dgate);
        if (closed) continue;
        for (std::size_t i = 0; i < M; ++i) {
          const std::size_t at = j * M + i;
          const double w = stream.values[at] / norm;
          if (a.relu && !(stream.values[at] > 0)) continue;
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

void nru_plain_reference(const NruPlainArguments& a) {
  const std::size_t H = a.sizes.hidden, M = a.sizes.memory, W = a.sizes.state();
  for (std::size_t r = 0; r < a.sizes.rows; ++r) {
    const float* o = a.o + r * (H + 2 + 2 * M);
    for (std::size_t i = 0; i < H; ++i) a.next[r * W + i] = narrow(positive(o[i]));
    for (std::size_t i = 0; i < M; ++i)
      a.next[r * W + H + i] = narrow(a.old[r * W + H + i] + positive(o[H]) * positive(o[H + 2 + i]) -
                                     positive(o[H + 1]) * positive(o[H + 2 + M + i]));
  }
}

void nru_plain_backward_reference(const NruPlainBackwardArguments& a) {
  const std::size_t H = a.sizes.hidden, M = a.sizes.memory, W = a.sizes.state();
  for (std::size_t r = 0; r < a.sizes.rows; ++r) {
    const float *o = a.o + r * (H + 2 + 2 * M), *dnext = a.dnext + r * W, *dm = dnext + H;
    float *d_o = a.d_o + r * (H + 2 + 2 * M), *dold = a.dold + r * W;
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
