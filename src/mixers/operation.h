// An autograd function of ours that libtorch reports like one of its own, forward and backward.
//
//   class Wkv : public Operation<Wkv> { static Tensor forward(...); static variable_list backward(...); };
#pragma once

#include <ATen/record_function.h>
#include <c10/util/Type.h>

#include <typeinfo>
#include <utility>

#include "mixers/torch.h"

namespace mneme {

template <class T>
struct Operation : torch::autograd::Function<T> {
  template <class... Arguments>
  static auto apply(Arguments&&... arguments) {
    // libtorch reports backward by itself.
    RECORD_FUNCTION(c10::demangle(typeid(T).name()), c10::ArrayRef<const c10::IValue>());
    return torch::autograd::Function<T>::apply(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace mneme
