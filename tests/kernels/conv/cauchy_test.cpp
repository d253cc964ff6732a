#include "kernels/conv/cauchy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/random.h"
#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

// Worst seen on any target: 2.7e-15. Both sides work in double.
constexpr double kTolerance = 1e-14;

using Forward = std::function<void(const CauchyInput&, const ComplexArray<double>&)>;
using Backward = std::function<void(const CauchyInput&, const ComplexArray<const double>&, const CauchyGradients&)>;

// Complex numbers followed by poison.
struct Numbers {
  explicit Numbers(std::size_t n) : size(n), re(n + 16, std::nan("")), im(re) {}
  Numbers(std::size_t n, std::uint64_t seed) : Numbers(n) {
    Random random(stream_key(seed, "test"), n);
    for (std::size_t i = 0; i < n; ++i) {
      re[i] = random.normal();
      im[i] = random.normal();
    }
  }
  ComplexArray<const double> in() const { return {re.data(), im.data()}; }
  ComplexArray<double> out() { return {re.data(), im.data()}; }

  std::size_t size;
  std::vector<double> re, im;
};

struct Problem {
  explicit Problem(const CauchyShape& s)
      : sizes(s), u(s.V * s.H * s.N, 1), a(s.H * s.N, 2), ds(s.V * s.H * s.frequencies(), 3) {
    // Stable poles, as a model has them: the real part is negative.
    for (std::size_t i = 0; i < a.size; ++i) a.re[i] = -0.1 - std::abs(a.re[i]);
  }
  Numbers forward(const Forward& kernel) const {
    Numbers s(ds.size);
    kernel({sizes, u.in(), a.in()}, s.out());
    return s;
  }
  std::pair<Numbers, Numbers> backward(const Backward& kernel) const {
    Numbers du(u.size), da(a.size);
    kernel({sizes, u.in(), a.in()}, ds.in(), {du.out(), da.out()});
    return {du, da};
  }

  CauchyShape sizes;
  Numbers u, a, ds;
};

double distance(const Numbers& ours, const Numbers& reference) {
  double worst = 0, scale = 1e-300;
  for (std::size_t i = 0; i < ours.re.size(); ++i) {
    const bool expected = i < ours.size;
    if (std::isnan(ours.re[i]) == expected || std::isnan(ours.im[i]) == expected) return INFINITY;
    if (!expected) continue;
    worst = std::max({worst, std::abs(ours.re[i] - reference.re[i]), std::abs(ours.im[i] - reference.im[i])});
    scale = std::max({scale, std::abs(reference.re[i]), std::abs(reference.im[i])});
  }
  return mneme::testing::noted(worst / scale);
}

bool agrees(const Forward& forward, const Backward& backward, const CauchyShape& sizes) {
  const Problem problem(sizes);
  const auto [du, da] = problem.backward(backward);
  const auto [right_du, right_da] = problem.backward(cauchy_backward_reference);
  return distance(problem.forward(forward), problem.forward(cauchy_reference)) <= kTolerance &&
         distance(du, right_du) <= kTolerance && distance(da, right_da) <= kTolerance;
}

KERNEL_TEST(KernelsCauchy, AgreesWithReferenceAtEverySize) {
  for (const std::size_t nodes : {1, 2, 3, 5, 6, 7, 8, 13, 14, 15, 16, 30, 31, 64})
    for (const std::size_t modes : {1, 2, 7})
      for (const std::size_t vectors : {1, 4})
        EXPECT_TRUE(agrees(cauchy, cauchy_backward, {vectors, 3, modes, nodes}))
            << nodes << " nodes, " << modes << " modes, " << vectors << " vectors";
}

TEST(KernelsCauchy, ReferenceGradientsAreDerivatives) {
  const Problem base({2, 2, 3, 6});
  const auto loss = [&](const Problem& problem) {
    const Numbers s = problem.forward(cauchy_reference);
    double sum = 0;
    for (std::size_t i = 0; i < s.size; ++i) sum += s.re[i] * base.ds.re[i] + s.im[i] * base.ds.im[i];
    return sum;
  };
  const auto gradients = base.backward(cauchy_backward_reference);
  const auto check = [&](Numbers Problem::*which, std::vector<double> Numbers::*part, const Numbers& gradient) {
    for (std::size_t i = 0; i < gradient.size; ++i) {
      Problem up = base, down = base;
      (up.*which.*part)[i] += 1e-6;
      (down.*which.*part)[i] -= 1e-6;
      const double expected = (gradient.*part)[i];
      EXPECT_NEAR((loss(up) - loss(down)) / 2e-6, expected, 1e-6 * (1 + std::abs(expected)));
    }
  };
  for (const auto part : {&Numbers::re, &Numbers::im}) {
    check(&Problem::u, part, gradients.first);
    check(&Problem::a, part, gradients.second);
  }
}

KERNEL_TEST(KernelsCauchy, PlantedFaultsAreRejected) {
  const CauchyShape sizes{4, 2, 5, 21};
  const Forward other_poles = [](CauchyInput in, const ComplexArray<double>& out) {
    const Numbers poles(in.shape.H * in.shape.N, 2);
    in.a = poles.in();
    cauchy(in, out);
  };
  const Forward zeros = [](const CauchyInput& in, const ComplexArray<double>& out) {
    cauchy(in, out);
    out.im[3] = 0;
  };
  const Backward not_conjugate = [](const CauchyInput& in, const ComplexArray<const double>& dout,
                                    const CauchyGradients& to) {
    cauchy_backward(in, dout, to);
    to.du.im[0] = -to.du.im[0];
  };
  for (const Forward& wrong : {other_poles, zeros}) EXPECT_FALSE(agrees(wrong, cauchy_backward, sizes));
  EXPECT_FALSE(agrees(cauchy, not_conjugate, sizes));
}

}  // namespace
}  // namespace mneme::kernels
