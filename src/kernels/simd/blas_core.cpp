#include "kernels/simd/blas_core.h"

#include <dlfcn.h>

#include <cstdlib>

namespace mneme::kernels {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

bool has_avx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool has_avx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// Null if the library has none of that name: which BLAS is behind libtorch is known only at run time.
template <class Signature>
Signature* library_function(const char* name) {
  return reinterpret_cast<Signature*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string blas_core() {
  const auto name = library_function<const char*()>("openblas_get_corename");
  return name ? name() : "unknown";
}

std::string better_blas_core(const std::string& core, bool has_avx2, bool has_avx512) {
  // The one that is taken for models it does not know.
  if (core != "Prescott") return "";
  return has_avx512 ? "SkylakeX" : has_avx2 ? "Haswell" : "";
}

void use_better_blas_core() {
  if (std::getenv(kVariable)) return;
  const std::string better = better_blas_core(blas_core(), has_avx2(), has_avx512());
  const auto leave = library_function<void()>("gotoblas_dynamic_quit");
  const auto choose = library_function<void()>("gotoblas_dynamic_init");
  if (better.empty() || !leave || !choose) return;
  ::setenv(kVariable, better.c_str(), 1);
  leave();
  choose();
  ::unsetenv(kVariable);  // programs that we start choose for themselves
}

}  // namespace mneme::kernels
