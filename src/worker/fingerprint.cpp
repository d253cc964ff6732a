#include "worker/fingerprint.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <fstream>
#include <string>

#include "core/code_identity.h"
#include "kernels/simd/blas_core.h"
#include "kernels/simd/dispatch.h"

namespace mneme::worker {
namespace {

// libtorch prints "CPU capability usage: AVX2" among its settings; there is no function for it in 1.13.
std::string torch_capability() {
  const std::string settings = at::show_config();
  const std::string label = "CPU capability usage: ";
  const auto start = settings.find(label);
  if (start == settings.npos) return "unknown";
  return settings.substr(start + label.size(), settings.find('\n', start) - start - label.size());
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

Json fingerprint(const std::string& device) {
  return {{"mneme", this_code().version},    {"code", this_code().build},
          {"libtorch", TORCH_VERSION},       {"device", device},
          {"torch_cpu", torch_capability()}, {"kernels", kernels::simd_target()},
          {"blas", kernels::blas_core()},    {"cpu", cpu_model()},
          {"threads", at::get_num_threads()}};
}

}  // namespace mneme::worker
