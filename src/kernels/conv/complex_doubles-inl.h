// Complex numbers in double precision, one per lane. Included once per SIMD target.
#if defined(MNEME_KERNELS_COMPLEX_DOUBLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_COMPLEX_DOUBLES_INL
#undef MNEME_KERNELS_COMPLEX_DOUBLES_INL
#else
#define MNEME_KERNELS_COMPLEX_DOUBLES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;

struct ComplexDoubles {
  hn::Vec<Doubles> re, im;
};

HWY_INLINE ComplexDoubles times(const ComplexDoubles& a, const ComplexDoubles& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
