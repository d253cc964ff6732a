#include "measure/gemm_shapes.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "ops/torch.h"

namespace mneme::measure {
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

void note(const GemmShape& shape, std::int64_t times = 1) {
  (*uses_seen)[shape] += 2.0 * static_cast<double>(times * shape.m) * static_cast<double>(shape.k * shape.n);
}

void note_product(const torch::Tensor& a, const torch::Tensor& b) {
  const GemmShape shape{a.size(-2), a.size(-1), b.size(-1), is_transposed(a), is_transposed(b)};
  note(shape, a.numel() / (shape.m * shape.k));
}

// y = x W^T of T tokens, and its two gradients.
void note_linear(std::int64_t T, const torch::Tensor& weight) {
  const std::int64_t out = weight.size(0), in = weight.size(1);
  note({T, in, out, false, true});
  note({T, out, in});
  note({out, T, in, true, false});
}

// The projections of an attention layer; with labelled positions, queries and outputs are computed at those only.
void note_attention(std::int64_t T, const torch::Tensor& weight_in, const torch::Tensor& weight_out,
                    const torch::Tensor& positions) {
  const std::int64_t D = weight_out.size(0);
  note_linear(positions.defined() ? positions.size(0) : T, weight_out);
  if (!positions.defined()) return note_linear(T, weight_in);
  note_linear(positions.size(0), weight_in.narrow(0, 0, D));
  note_linear(T, weight_in.narrow(0, D, 2 * D));
}

// Linear layers that are kernels of ours, by their inputs.
void note_kernel(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
  const auto tensor = [&](std::size_t i) { return inputs[i].toTensor(); };
  const auto tokens = [&] { return tensor(0).numel() / tensor(0).size(-1); };
  if (name.ends_with("::LinearMap") || name.ends_with("::SoftmaxHead")) note_linear(tokens(), tensor(1));
  if (name.ends_with("::GeluMlp")) {
    note_linear(tokens(), tensor(1));
    note_linear(tokens(), tensor(3));
  }
  if (name.ends_with("::AttentionLayer")) note_attention(tokens(), tensor(1), tensor(3), tensor(5));
}

std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction& function) {
  for (const Product& product : kProducts)
    if (function.name() == product.name)
      note_product(function.inputs()[product.first].toTensor(), function.inputs()[product.first + 1].toTensor());
  note_kernel(function.name(), function.inputs());
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

}  // namespace mneme::measure
