#include "kernels/simd/dispatch.h"

#include <hwy/highway.h>

#include <bit>
#include <cstdlib>
#include <string_view>

namespace mneme::kernels {
namespace {

int forced = 0;

bool environment_says_reference() {
  const char* value = std::getenv("MNEME_KERNELS");
  return value && std::string_view(value) == "reference";
}

}  // namespace

bool use_reference() {
  static const bool environment = environment_says_reference();
  return environment || forced > 0;
}

std::string simd_target() {
  if (use_reference()) return "reference";
  // Better targets have lower bits.
  const auto supported = static_cast<std::uint64_t>(hwy::SupportedTargets());
  const std::uint64_t best = supported & -supported;
  return hwy::TargetName(static_cast<std::int64_t>(best));
}

ScopedReference::ScopedReference() { ++forced; }
ScopedReference::~ScopedReference() { --forced; }

}  // namespace mneme::kernels
