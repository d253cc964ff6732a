#include <cmath>
#include <vector>

#include "kernels/scan/delta_rule.h"

namespace mneme::kernels {
namespace {

using Vector = std::vector<double>;

// x / sqrt(|x|^2 + 1e-6), or x.
struct Direction {
  Vector value;
  double inverse = 1.0;
  bool normalised;

  Direction(const float* x, std::size_t size, bool normalise) : value(x, x + size), normalised(normalise) {
    if (!normalise) return;
    double squares = 1e-6;
    for (const double entry : value) squares += entry * entry;
    inverse = 1.0 / std::sqrt(squares);
    for (double& entry : value) entry *= inverse;
  }
  // The gradient of x from that of the direction.
  void pull_back(const Vector& gradient, float* dx) const {
    double along = 0;
    for (std::size_t i = 0; normalised && i < value.size(); ++i) along += value[i] * gradient[i];
    for (std::size_t i = 0; i < value.size(); ++i)
      dx[i] = static_cast<float>(inverse * (gradient[i] - along * value[i]));
  }
};

// One sequence and head, with the state before every sub-step (after its decay) and its error.
struct History {
  const DeltaRuleInput& in;
  std::size_t b, h;
  Vector S;                    // [K, V] after the last token
  std::vector<Vector> before;  // [L * n][K * V]
  std::vector<Vector> errors;  // [L * n][V]
  std::vector<Vector> after;   // [L][K * V]

  std::size_t sub_step(std::size_t t, std::size_t j) const {
    const auto& s = in.shape;
    return ((b * s.L + t) * s.n + j) * s.H + h;
  }
  std::size_t token(std::size_t t) const { return (b * in.shape.L + t) * in.shape.H + h; }
  Direction key(std::size_t t, std::size_t j) const {
    return {in.k + sub_step(t, j) * in.shape.K, in.shape.K, in.normalise};
  }
  Direction query(std::size_t t) const { return {in.q + token(t) * in.shape.K, in.shape.K, in.normalise}; }

  History(const DeltaRuleInput& inputs, std::size_t sequence, std::size_t head)
      : in(inputs), b(sequence), h(head), S(inputs.shape.K * inputs.shape.V) {
    const auto& s = in.shape;
    for (std::size_t t = 0; t < s.L; ++t) {
      if (in.g != nullptr)
        for (double& entry : S) entry *= std::exp(static_cast<double>(in.g[token(t)]));
      for (std::size_t j = 0; j < s.n; ++j) {
        before.push_back(S);
        const Direction k = key(t, j);
        const float* v = in.v + sub_step(t, j) * s.V;
        Vector e(v, v + s.V);
        for (std::size_t i = 0; i < s.K; ++i)
          for (std::size_t c = 0; c < s.V; ++c) e[c] -= S[i * s.V + c] * k.value[i];
        for (std::size_t i = 0; i < s.K; ++i)
          for (std::size_t c = 0; c < s.V; ++c) S[i * s.V + c] += in.beta[sub_step(t, j)] * k.value[i] * e[c];
        errors.push_back(e);
      }
      after.push_back(S);
    }
  }
};

void backward_of(const History& history, const float* dout, const DeltaRuleGradients& out) {
  const DeltaRuleInput& in = history.in;
  const auto& s = in.shape;
  Vector dS(s.K * s.V);
  for (std::size_t t = s.L; t-- > 0;) {
    const float* dout_row = dout + history.token(t) * s.V;
    const Direction q = history.query(t);
    Vector dq(s.K);
    for (std::size_t i = 0; i < s.K; ++i)
      for (std::size_t c = 0; c < s.V; ++c) {
        dq[i] += in.scale * history.after[t][i * s.V + c] * dout_row[c];
        dS[i * s.V + c] += in.scale * q.value[i] * dout_row[c];
      }
    q.pull_back(dq, out.dq + history.token(t) * s.K);
    for (std::size_t j = s.n; j-- > 0;) {
      const Direction k = history.key(t, j);
      const Vector &e = history.errors[t * s.n + j], &S = history.before[t * s.n + j];
      const double beta = in.beta[history.sub_step(t, j)];
      Vector dk(s.K), de(s.V);
      double dbeta = 0;
      for (std::size_t i = 0; i < s.K; ++i)
        for (std::size_t c = 0; c < s.V; ++c) {
          dk[i] += beta * dS[i * s.V + c] * e[c];
          de[c] += beta * dS[i * s.V + c] * k.value[i];
          dbeta += dS[i * s.V + c] * k.value[i] * e[c];
        }
      for (std::size_t i = 0; i < s.K; ++i)
        for (std::size_t c = 0; c < s.V; ++c) {
          dk[i] -= S[i * s.V + c] * de[c];
          dS[i * s.V + c] -= k.value[i] * de[c];
        }
      k.pull_back(dk, out.dk + history.sub_step(t, j) * s.K);
      for (std::size_t c = 0; c < s.V; ++c) out.dv[history.sub_step(t, j) * s.V + c] = static_cast<float>(de[c]);
      out.dbeta[history.sub_step(t, j)] = static_cast<float>(dbeta);
    }
    if (in.g == nullptr) continue;
    double dg = 0;
    for (std::size_t i = 0; i < dS.size(); ++i) {
      dg += dS[i] * history.before[t * s.n][i];
      dS[i] *= std::exp(static_cast<double>(in.g[history.token(t)]));
    }
    out.dg[history.token(t)] = static_cast<float>(dg);
  }
}

}  // namespace

void delta_rule_reference(const DeltaRuleInput& in, float* out, const DeltaRuleSaved&) {
  const auto& s = in.shape;
  for (std::size_t b = 0; b < s.B; ++b)
    for (std::size_t h = 0; h < s.H; ++h) {
      const History history(in, b, h);
      for (std::size_t t = 0; t < s.L; ++t) {
        const Direction q = history.query(t);
        for (std::size_t c = 0; c < s.V; ++c) {
          double o = 0;
          for (std::size_t i = 0; i < s.K; ++i) o += history.after[t][i * s.V + c] * q.value[i];
          out[history.token(t) * s.V + c] = static_cast<float>(in.scale * o);
        }
      }
    }
}

void delta_rule_backward_reference(const DeltaRuleInput& in, const DeltaRuleSaved&, const float* dout,
                                   const DeltaRuleGradients& out) {
  for (std::size_t b = 0; b < in.shape.B; ++b)
    for (std::size_t h = 0; h < in.shape.H; ++h) backward_of(History(in, b, h), dout, out);
}

}  // namespace mneme::kernels
