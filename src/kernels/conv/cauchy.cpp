#include "kernels/conv/cauchy.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/simd/aligned_floats.h"
#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/cauchy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/complex_doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// sum + a * b
HWY_INLINE ComplexDoubles add_product(const ComplexDoubles& sum, const ComplexDoubles& a, const ComplexDoubles& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::MulAdd(a.re, b.re, sum.re)),
          hn::MulAdd(a.im, b.re, hn::MulAdd(a.re, b.im, sum.im))};
}

// sum + conj(a) * b
HWY_INLINE ComplexDoubles add_conjugate_product(const ComplexDoubles& sum, const ComplexDoubles& a,
                                                const ComplexDoubles& b) {
  return {hn::MulAdd(a.im, b.im, hn::MulAdd(a.re, b.re, sum.re)),
          hn::NegMulAdd(a.im, b.re, hn::MulAdd(a.re, b.im, sum.im))};
}

HWY_INLINE ComplexDoubles reciprocal(const ComplexDoubles& a) {
  const Doubles d;
  const auto scale = hn::Div(hn::Set(d, 1.0), hn::MulAdd(a.im, a.im, hn::Mul(a.re, a.re)));
  return {hn::Mul(a.re, scale), hn::Neg(hn::Mul(a.im, scale))};
}

HWY_INLINE ComplexDoubles spread(double re, double im) { return {hn::Set(Doubles(), re), hn::Set(Doubles(), im)}; }

// Complex numbers along the frequencies, rounded up to whole vectors and zero there.
class Row {
 public:
  explicit Row(std::size_t size) : size_((size + lanes() - 1) / lanes() * lanes()), memory_(2 * size_) {}
  double* re() const { return memory_; }
  double* im() const { return memory_ + size_; }
  std::size_t size() const { return size_; }
  ComplexDoubles at(std::size_t f) const { return {hn::Load(Doubles(), re() + f), hn::Load(Doubles(), im() + f)}; }
  void put(std::size_t f, const ComplexDoubles& value) const {
    hn::Store(value.re, Doubles(), re() + f);
    hn::Store(value.im, Doubles(), im() + f);
  }
  static std::size_t lanes() { return hn::Lanes(Doubles()); }

 private:
  std::size_t size_;
  AlignedDoubles memory_;
};

struct Nodes {
  explicit Nodes(const CauchyShape& shape) : x(shape.frequencies()), e(shape.frequencies()) {
    std::fill_n(x.re(), x.size(), 1.0);  // a harmless denominator where there is no node
    for (std::size_t f = 0; f < shape.frequencies(); ++f) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(f) / static_cast<double>(shape.M);
      const double half = std::sin(0.5 * angle);
      x.re()[f] = 2.0 * half * half;  // 1 - cos without cancellation
      x.im()[f] = std::sin(angle);
      e.re()[f] = 0.5 * (1.0 + std::cos(angle));
      e.im()[f] = -0.5 * std::sin(angle);
    }
  }
  // 1 / (x - a e)
  HWY_INLINE ComplexDoubles resolvent(std::size_t f, const ComplexDoubles& a) const {
    const ComplexDoubles product = times(a, e.at(f)), node = x.at(f);
    return reciprocal({hn::Sub(node.re, product.re), hn::Sub(node.im, product.im)});
  }

  Row x, e;
};

void cauchy_simd(const CauchyInput& in, const ComplexArray<double>& out) {
  const auto [V, H, N, M] = in.shape;
  const std::size_t F = in.shape.frequencies(), lanes = Row::lanes();
  const Nodes nodes(in.shape);
  const Row direct(N * lanes), mirrored(N * lanes), sum(F);
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t f = 0; f < F; f += lanes) {
      for (std::size_t n = 0; n < N; ++n) {
        const double re = in.a.re[h * N + n], im = in.a.im[h * N + n];
        direct.put(n * lanes, nodes.resolvent(f, spread(re, im)));
        mirrored.put(n * lanes, nodes.resolvent(f, spread(re, -im)));
      }
      const std::size_t count = std::min(lanes, F - f);
      for (std::size_t v = 0; v < V; ++v) {
        ComplexDoubles total = spread(0, 0);
        for (std::size_t n = 0; n < N; ++n) {
          const double re = in.u.re[(v * H + h) * N + n], im = in.u.im[(v * H + h) * N + n];
          total = add_product(total, spread(re, im), direct.at(n * lanes));
          total = add_product(total, spread(re, -im), mirrored.at(n * lanes));
        }
        sum.put(0, total);
        std::copy_n(sum.re(), count, out.re + (v * H + h) * F + f);
        std::copy_n(sum.im(), count, out.im + (v * H + h) * F + f);
      }
    }
}

HWY_INLINE void store_sum(const ComplexDoubles& direct, const ComplexDoubles& mirrored, const ComplexArray<double>& out,
                          std::size_t i) {
  const Doubles d;
  out.re[i] = hn::GetLane(hn::SumOfLanes(d, hn::Add(direct.re, mirrored.re)));
  out.im[i] = hn::GetLane(hn::SumOfLanes(d, hn::Sub(direct.im, mirrored.im)));
}

void cauchy_backward_simd(const CauchyInput& in, const ComplexArray<const double>& dout,
                          const CauchyGradients& gradients) {
  const auto [V, H, N, M] = in.shape;
  const std::size_t F = in.shape.frequencies(), lanes = Row::lanes();
  const Nodes nodes(in.shape);
  const std::size_t padded = nodes.x.size();
  const Row ds(V * padded), direct(F), mirrored(F);
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t v = 0; v < V; ++v) {
      std::copy_n(dout.re + (v * H + h) * F, F, ds.re() + v * padded);
      std::copy_n(dout.im + (v * H + h) * F, F, ds.im() + v * padded);
    }
    for (std::size_t n = 0; n < N; ++n) {
      const double re = in.a.re[h * N + n], im = in.a.im[h * N + n];
      ComplexDoubles da1 = spread(0, 0), da2 = da1;
      for (std::size_t f = 0; f < F; f += lanes) {
        const ComplexDoubles r1 = nodes.resolvent(f, spread(re, im)), r2 = nodes.resolvent(f, spread(re, -im));
        direct.put(f, r1);
        mirrored.put(f, r2);
        // conj(u) ds and u ds, summed over the vectors, share the rest of the derivative.
        ComplexDoubles with1 = spread(0, 0), with2 = with1;
        for (std::size_t v = 0; v < V; ++v) {
          const std::size_t i = (v * H + h) * N + n;
          const ComplexDoubles u = spread(in.u.re[i], in.u.im[i]), g = ds.at(v * padded + f);
          with1 = add_conjugate_product(with1, u, g);
          with2 = add_product(with2, u, g);
        }
        const ComplexDoubles e = nodes.e.at(f);
        da1 = add_conjugate_product(da1, times(e, times(r1, r1)), with1);
        da2 = add_conjugate_product(da2, times(e, times(r2, r2)), with2);
      }
      store_sum(da1, da2, gradients.da, h * N + n);
      for (std::size_t v = 0; v < V; ++v) {
        ComplexDoubles du1 = spread(0, 0), du2 = du1;
        for (std::size_t f = 0; f < F; f += lanes) {
          du1 = add_conjugate_product(du1, direct.at(f), ds.at(v * padded + f));
          du2 = add_conjugate_product(du2, mirrored.at(f), ds.at(v * padded + f));
        }
        store_sum(du1, du2, gradients.du, (v * H + h) * N + n);
      }
    }
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(cauchy_simd);
HWY_EXPORT(cauchy_backward_simd);

void cauchy(const CauchyInput& in, const ComplexArray<double>& out) {
  if (use_reference()) return cauchy_reference(in, out);
  HWY_DYNAMIC_DISPATCH(cauchy_simd)(in, out);
}

void cauchy_backward(const CauchyInput& in, const ComplexArray<const double>& dout, const CauchyGradients& gradients) {
  if (use_reference()) return cauchy_backward_reference(in, dout, gradients);
  HWY_DYNAMIC_DISPATCH(cauchy_backward_simd)(in, dout, gradients);
}

}  // namespace mneme::kernels
#endif
