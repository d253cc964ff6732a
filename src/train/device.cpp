#include "train/device.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include "core/error.h"

namespace mneme::train {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(
      ErrorKind::usage, "train.device",
      fmt::format("{}, got {}, expected cpu; docs/building.md says how to build with another libtorch", why, name));
}

}  // namespace

torch::Device device_of(const std::string& name) {
  const torch::Device device(name);
  if (device.is_cuda()) {
    if (!at::hasCUDA()) refuse(name, "this libtorch has no CUDA");
    const std::size_t count = at::getNumGPUs();
    const int index = device.has_index() ? device.index() : 0;
    if (static_cast<std::size_t>(index) >= count) refuse(name, fmt::format("this libtorch sees {} GPUs", count));
  } else if (device.is_mps() && !at::hasMPS()) {
    refuse(name, "this libtorch has no MPS");
  }
  return device;
}

}  // namespace mneme::train
