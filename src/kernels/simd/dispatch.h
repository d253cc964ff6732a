// Every kernel has a plain reference and a SIMD version; this says which one runs.
#pragma once

#include <string>

namespace mneme::kernels {

// True if MNEME_KERNELS=reference is in the environment (read once) or a ScopedReference is alive.
bool use_reference();

// The SIMD target in use ("AVX3", "AVX2", ...), part of a run's fingerprint.
std::string simd_target();

class ScopedReference {
 public:
  ScopedReference();
  ~ScopedReference();
  ScopedReference(const ScopedReference&) = delete;
  ScopedReference& operator=(const ScopedReference&) = delete;
};

}  // namespace mneme::kernels
