// A module that only holds another under a name: parameter names of the original implementations have such levels
// (a torch.nn.Sequential calls its first module "0").
#pragma once

#include "ops/torch.h"

namespace mneme::nn {

template <class Inner>
class Holder : public torch::nn::Module {
 public:
  Holder(const std::string& name, std::shared_ptr<Inner> module) : inner(register_module(name, std::move(module))) {}

  std::shared_ptr<Inner> inner;
};

// Registers `inner` in `owner` as "outer_name.inner_name".
template <class Inner>
std::shared_ptr<Inner> register_held(torch::nn::Module& owner, const std::string& outer_name,
                                     const std::string& inner_name, std::shared_ptr<Inner> inner) {
  return owner.register_module(outer_name, std::make_shared<Holder<Inner>>(inner_name, std::move(inner)))->inner;
}

}  // namespace mneme::nn
