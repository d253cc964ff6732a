#include "train/gemm_shapes.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "mixers/torch.h"

namespace mneme {
namespace {

using Uses = std::map<GemmShape, double>;
thread_local Uses* uses_seen = nullptr;

struct Product {
  std::string_view name;
  std::size_t first;  // the factors are this input and the next
};
constexpr Product kProducts[] = {{"aten::mm", 0},     {"aten::bmm", 0},     {"aten::addmm", 1},
                                 {"aten::addmm_", 1}, {"aten::baddbmm", 1}, {"aten::baddbmm_", 1}};

bool is_transposed(const torch::Tensor& x) { return x.stride(-1) != 1 && x.stride(-2) == 1; }

void note(const torch::Tensor& a, const torch::Tensor& b) {
  const GemmShape shape{a.size(-2), a.size(-1), b.size(-1), is_transposed(a), is_transposed(b)};
  (*uses_seen)[shape] += 2.0 * static_cast<double>(a.numel()) * static_cast<double>(shape.n);
}

std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction& function) {
  for (const Product& product : kProducts)
    if (function.name() == product.name)
      note(function.inputs()[product.first].toTensor(), function.inputs()[product.first + 1].toTensor());
  return nullptr;
}

// Not left on after an exception.
struct Callback {
  explicit Callback(Uses& uses) {
    uses_seen = &uses;
    handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback(on_operation).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~Callback() {
    at::removeCallback(handle);
    uses_seen = nullptr;
  }
  at::CallbackHandle handle;
};

}  // namespace

std::vector<GemmUse> gemms_of(const std::function<void()>& work) {
  Uses uses;
  {
    const Callback callback(uses);
    work();
  }
  std::vector<GemmUse> list;
  for (const auto& [shape, flops] : uses) list.push_back({shape, flops});
  std::sort(list.begin(), list.end(), [](const GemmUse& a, const GemmUse& b) { return a.flops > b.flops; });
  return list;
}

}  // namespace mneme
