// Where a model is trained (docs/devices.md): kernels on the CPU, the composed tensor operations on any other device.
#pragma once

#include <string>

#include "ops/torch.h"

namespace mneme::train {

// `name` as train.device has it. Throws Error(usage) if the libtorch at hand has no such device.
torch::Device device_of(const std::string& name);

}  // namespace mneme::train
