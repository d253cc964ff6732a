#include "kernels/simd/dispatch.h"

#include <hwy/highway.h>

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
  // Best first; a processor may have targets that are not compiled in.
  return hwy::TargetName(hwy::SupportedAndGeneratedTargets().front());
}

ScopedReference::ScopedReference() { ++forced; }
ScopedReference::~ScopedReference() { --forced; }

}  // namespace mneme::kernels
