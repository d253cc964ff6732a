#include "kernels/simd/blas_core.h"

#include <dlfcn.h>
#include <unistd.h>

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

}  // namespace

std::string blas_core() {
  // Which BLAS libtorch uses is known only at run time.
  const auto name = reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  return name ? name() : "unknown";
}

std::string better_blas_core(const std::string& core, bool has_avx2, bool has_avx512) {
  // The one that is taken for models it does not know.
  if (core != "Prescott") return "";
  return has_avx512 ? "SkylakeX" : has_avx2 ? "Haswell" : "";
}

void restart_with_better_blas_core(const char* program, char* const* argv) {
  restart_with_blas_core(better_blas_core(blas_core(), has_avx2(), has_avx512()), program, argv);
}

void restart_with_blas_core(const std::string& core, const char* program, char* const* argv) {
  if (core.empty() || std::getenv(kVariable)) return;
  ::setenv(kVariable, core.c_str(), 1);
  ::execv(program, argv);
  ::unsetenv(kVariable);
}

}  // namespace mneme::kernels
