#include "ops/ghost_device.h"

#include <ATen/NativeFunctions.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

// A name of libtorch's that no device of Debian's builds has. It must be one to which set_data can move parameters, so
// not PrivateUse1, and none for which libtorch has a copy of its own, which rules out XPU from version 2 on.
#if TORCH_VERSION_MAJOR >= 2
#define MNEME_GHOST HPU
#else
#define MNEME_GHOST XPU
#endif
#define MNEME_IMPLEMENT(library, key, m) TORCH_LIBRARY_IMPL(library, key, m)
#define MNEME_REGISTER_GUARD(key, guard) C10_REGISTER_GUARD_IMPL(key, guard)

namespace mneme::testing {
namespace {

using torch::Tensor;
template <class T>
using Maybe = c10::optional<T>;

constexpr c10::DeviceType kType = c10::DeviceType::MNEME_GHOST;
constexpr std::uintptr_t kVeil = std::uintptr_t{1} << 62;

void* veiled(void* memory) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) | kVeil); }
void* unveiled(const void* address) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~kVeil);
}

c10::Storage make_storage(std::size_t bytes) {
  void* memory = std::malloc(bytes + 1);
  std::memset(memory, 0xFF, bytes);
  c10::DataPtr data(veiled(memory), memory, &std::free, c10::Device(kType, 0));
  return {c10::Storage::use_byte_size_t(), bytes, std::move(data), nullptr, false};
}

Tensor make_strided(at::IntArrayRef sizes, at::IntArrayRef strides, c10::ScalarType type) {
  std::int64_t last = 0;
  bool empty = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    empty = empty || sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  const auto elements = static_cast<std::size_t>(empty ? 0 : last + 1);
  Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(make_storage(elements * c10::elementSize(type)),
                                                           c10::DispatchKeySet(c10::DispatchKey::MNEME_GHOST),
                                                           c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, Maybe<at::ScalarType> type, Maybe<at::Layout>,
                     Maybe<at::Device>, Maybe<bool>) {
  return make_strided(sizes, strides, type.value_or(torch::kFloat32));
}

Tensor empty(at::IntArrayRef sizes, Maybe<at::ScalarType> type, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>,
             Maybe<at::MemoryFormat>) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0; step *= std::max<std::int64_t>(sizes[i], 1)) strides[i] = step;
  return make_strided(sizes, strides, type.value_or(torch::kFloat32));
}

// The same memory as the host sees it; still to be conjugated or negated, if it was.
Tensor on_host(const Tensor& tensor) {
  if (tensor.device().type() != kType) return tensor;
  const Tensor host = at::from_blob(unveiled(tensor.data_ptr()), tensor.sizes(), tensor.strides(),
                                    tensor.options().device(torch::kCPU).requires_grad(false));
  host._set_conj(tensor.is_conj());
  host._set_neg(tensor.is_neg());
  return host;
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  on_host(to).copy_(on_host(from));
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) {
    const Tensor fresh = empty(from.sizes(), to.scalar_type(), {}, {}, {}, {});
    to.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh.storage());
    to.unsafeGetTensorImpl()->set_sizes_contiguous(from.sizes());
  }
  return copy_from(from, to, false);
}

Tensor as_strided(const Tensor& x, at::IntArrayRef sizes, at::IntArrayRef strides, Maybe<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(x, sizes, strides, offset);
}
Tensor view(const Tensor& x, at::IntArrayRef sizes) { return at::native::view(x, sizes); }
Tensor reshape_alias(const Tensor& x, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return at::native::_reshape_alias(x, sizes, strides);
}
Tensor unfold(const Tensor& x, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  return at::native::unfold(x, dimension, size, step);
}
Tensor view_as_real(const Tensor& x) { return at::native::view_as_real(x); }
Tensor view_as_complex(const Tensor& x) { return at::native::view_as_complex(x); }

// libtorch knows no convolution for a device that it does not know, and does not fall back to the host by itself.
Tensor convolution(const Tensor& x, const Tensor& weight, const Maybe<Tensor>& bias, at::IntArrayRef stride,
                   at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
                   std::int64_t groups) {
  const Maybe<Tensor> host_bias = bias.has_value() && bias->defined() ? Maybe<Tensor>(bias->cpu()) : Maybe<Tensor>();
  return at::convolution(x.cpu(), weight.cpu(), host_bias, stride, padding, dilation, transposed, output_padding,
                         groups)
      .to(x.device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                                        at::IntArrayRef stride, at::IntArrayRef padding,
                                                        at::IntArrayRef dilation, bool transposed,
                                                        at::IntArrayRef output_padding, std::int64_t groups,
                                                        std::array<bool, 3> wanted) {
  const auto there = [&](const Tensor& tensor) { return tensor.defined() ? tensor.to(x.device()) : tensor; };
  const at::OptionalIntArrayRef bias_sizes =
      wanted[2] ? at::OptionalIntArrayRef(at::IntArrayRef(dy.sizes().slice(1, 1))) : at::OptionalIntArrayRef();
  const auto [dx, dweight, dbias] =
      at::convolution_backward(dy.cpu(), x.cpu(), weight.cpu(), bias_sizes, stride, padding, dilation, transposed,
                               output_padding, groups, wanted);
  return {there(dx), there(dweight), there(dbias)};
}

MNEME_IMPLEMENT(aten, MNEME_GHOST, m) {
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("as_strided", &as_strided);
  m.impl("view", &view);
  m.impl("_reshape_alias", &reshape_alias);
  m.impl("unfold", &unfold);
  m.impl("view_as_real", &view_as_real);
  m.impl("view_as_complex", &view_as_complex);
}

// Copies resolve a pending conjugation or negation themselves. Without this libtorch would resolve it first, by a copy,
// and so on until the stack ends.
MNEME_IMPLEMENT(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
MNEME_IMPLEMENT(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

void on_the_host(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  at::native::cpu_fallback(operation, stack);
}

MNEME_IMPLEMENT(_, MNEME_GHOST, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_host>()); }

}  // namespace

torch::Device ghost_device() { return {kType, 0}; }

}  // namespace mneme::testing

namespace at::detail {
MNEME_REGISTER_GUARD(MNEME_GHOST, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::MNEME_GHOST>)
}  // namespace at::detail
