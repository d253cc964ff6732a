#include "ops/path.h"

namespace mneme::ops {
namespace {

thread_local int composed = 0;

}  // namespace

bool use_kernels(const torch::Tensor& x) {
  return composed == 0 && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
}

ScopedComposed::ScopedComposed() { ++composed; }
ScopedComposed::~ScopedComposed() { --composed; }

}  // namespace mneme::ops
