// Levels of names: parameter names of the original implementations have levels that hold nothing else
// (a torch.nn.Sequential calls its first module "0").
#pragma once

#include "ops/torch.h"

namespace mneme::nn {

// A level with parameters or further levels in it, and no mathematics.
class NameLevel : public torch::nn::Module {};

// A level with one module in it.
template <class Inner>
class Nested : public torch::nn::Module {
 public:
  Nested(const std::string& name, std::shared_ptr<Inner> module) : inner(register_module(name, std::move(module))) {}

  std::shared_ptr<Inner> inner;
};

// Registers `inner` in `owner` as "outer_name.inner_name".
template <class Inner>
std::shared_ptr<Inner> register_nested(torch::nn::Module& owner, const std::string& outer_name,
                                       const std::string& inner_name, std::shared_ptr<Inner> inner) {
  return owner.register_module(outer_name, std::make_shared<Nested<Inner>>(inner_name, std::move(inner)))->inner;
}

}  // namespace mneme::nn
