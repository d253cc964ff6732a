#include "ops/matrix_scan.h"

#include <vector>

#include "kernels/scan/matrix_scan.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct MatrixScanTensors {
  torch::Tensor m, p;  // [B, L, N, N]: the matrices and their products

  kernels::MatrixScanInput input() const { return {extent(m, 0), extent(m, 1), extent(m, 2), floats(m)}; }
};

class MatrixScan : public Operation<MatrixScan> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& m) {
    MatrixScanTensors t{m.contiguous(), {}};
    t.p = torch::empty_like(t.m);
    kernels::matrix_scan(t.input(), floats(t.p));
    context->save_for_backward({t.m, t.p});
    return t.p;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<MatrixScanTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    torch::Tensor dm = torch::empty_like(dout);
    kernels::matrix_scan_backward(t.input(), floats(t.p), floats(dout), floats(dm));
    return {dm};
  }
};

}  // namespace

torch::Tensor running_products(const torch::Tensor& m) {
  if (use_kernels(m)) return MatrixScan::apply(m);
  std::vector<torch::Tensor> products = {m.select(1, 0)};
  for (std::int64_t t = 1; t < m.size(1); ++t) products.push_back(torch::matmul(products.back(), m.select(1, t)));
  return torch::stack(products, 1);
}

}  // namespace mneme::ops
