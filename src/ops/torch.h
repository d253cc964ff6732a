// What Mneme uses of libtorch; precompiled once. <torch/torch.h> would more than double the compile time of
// every file that includes it (data loaders, optimisers, serialisation, every layer there is).
#pragma once

#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/types.h>
#include <torch/utils.h>
