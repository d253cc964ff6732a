// An autograd function of ours that libtorch reports like one of its own, forward and backward.
//
//   class Wkv : public Operation<Wkv> { static Tensor forward(...); static variable_list backward(...); };
#pragma once

#include <ATen/record_function.h>
#include <c10/util/Type.h>

#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "ops/torch.h"

namespace mneme::ops {

// Reports what runs while this lives, with these tensors as its inputs.
class Report {
 public:
  template <class... Arguments>
  explicit Report(const std::type_info& type, const Arguments&... arguments) : record_(at::RecordScope::FUNCTION) {
    if (!record_.isActive()) return;
    if (record_.needsInputs()) (add(arguments), ...);
    record_.before(c10::demangle(type.name()), c10::ArrayRef<const c10::IValue>(inputs_.data(), inputs_.size()));
  }

 private:
  template <class Argument>
  void add(const Argument& argument) {
    if constexpr (std::is_same_v<Argument, torch::Tensor>) inputs_.emplace_back(argument);
    // One that is missing has its place too.
    if constexpr (std::is_same_v<Argument, c10::optional<torch::Tensor>>)
      inputs_.emplace_back(argument ? *argument : torch::Tensor());
  }

  at::RecordFunction record_;
  std::vector<c10::IValue> inputs_;
};

template <class T>
struct Operation : torch::autograd::Function<T> {
  template <class... Arguments>
  static auto apply(Arguments&&... arguments) {
    // libtorch reports backward by itself.
    const Report report(typeid(T), arguments...);
    return torch::autograd::Function<T>::apply(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace mneme::ops
