#include "kernels/conv/diagonal_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;

// Worst seen: 0. Both sides work in double and round to the same float32; a last bit may differ elsewhere.
constexpr double kTolerance = 2e-7;

using Forward = std::function<void(const DiagonalKernelInput&, float*)>;
using Backward = std::function<void(const DiagonalKernelInput&, const float*, const DiagonalKernelGradients&)>;

// Poles inside the unit circle, as a stable model has them.
struct Model {
  explicit Model(const DiagonalKernelShape& sizes) : w_re(sizes.N * sizes.H) {
    w_im = pole_re = pole_im = w_re;
    Random random(stream_key(5, "test"), sizes.N);
    for (std::size_t i = 0; i < w_re.size(); ++i) {
      w_re[i] = random.normal();
      w_im[i] = random.normal();
      const double radius = std::exp(-0.2 * random.uniform()), angle = 3.0 * random.normal();
      pole_re[i] = radius * std::cos(angle);
      pole_im[i] = radius * std::sin(angle);
    }
  }
  ComplexArray<const double> w() const { return {w_re.data(), w_im.data()}; }
  ComplexArray<const double> pole() const { return {pole_re.data(), pole_im.data()}; }

  std::vector<double> w_re, w_im, pole_re, pole_im;
};

std::vector<float> forward(const Forward& kernel, const DiagonalKernelShape& sizes, const Model& model, bool& margins) {
  GuardedArray out(sizes.L * sizes.H, 1);
  kernel({sizes, model.w(), model.pole()}, out.data());
  margins = margins && out.margins_intact();
  return out.values();
}

// The four gradients one after the other, each followed by a poisoned guard.
std::vector<std::vector<float>> backward(const Backward& kernel, const DiagonalKernelShape& sizes, const Model& model) {
  const std::size_t size = sizes.N * sizes.H;
  GuardedArray dk(sizes.L * sizes.H, 3);
  dk.fill_normal(9);
  std::vector<std::vector<double>> parts(4, std::vector<double>(size + 16, std::nan("")));
  kernel({sizes, model.w(), model.pole()}, dk.data(),
         {{parts[0].data(), parts[1].data()}, {parts[2].data(), parts[3].data()}});
  std::vector<std::vector<float>> result;
  for (const auto& part : parts) result.emplace_back(part.begin(), part.end());
  return result;
}

bool agrees(const Forward& f, const Backward& b, const DiagonalKernelShape& sizes) {
  const Model model(sizes);
  bool margins = true;
  if (relative_error(forward(f, sizes, model, margins), forward(diagonal_kernel_reference, sizes, model, margins)) >
      kTolerance)
    return false;
  const auto ours = backward(b, sizes, model), reference = backward(diagonal_kernel_backward_reference, sizes, model);
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (relative_error(ours[i], reference[i]) > kTolerance) return false;
  return margins;
}

KERNEL_TEST(KernelsDiagonalKernel, AgreesWithReferenceAtEverySize) {
  for (const std::size_t channels : {1, 2, 3, 4, 5, 7, 8, 9, 17})
    for (const std::size_t modes : {1, 3, 4, 5, 8})
      for (const std::size_t length : {1, 2, 3, 50})
        EXPECT_TRUE(agrees(diagonal_kernel, diagonal_kernel_backward, {length, modes, channels}))
            << length << " steps, " << modes << " modes, " << channels << " channels";
}

KERNEL_TEST(KernelsDiagonalKernel, LongKernelsStayExact) {
  EXPECT_TRUE(agrees(diagonal_kernel, diagonal_kernel_backward, {3000, 2, 2}));
}

TEST(KernelsDiagonalKernel, ReferenceGradientsAreDerivatives) {
  const DiagonalKernelShape sizes{6, 2, 2};
  const auto loss = [&](const Model& model) {
    GuardedArray dk(sizes.L * sizes.H, 3);
    dk.fill_normal(9);
    bool margins = true;
    const auto kernel = forward(diagonal_kernel_reference, sizes, model, margins);
    double sum = 0;
    for (std::size_t i = 0; i < kernel.size(); ++i) sum += static_cast<double>(kernel[i]) * dk[i];
    return sum;
  };
  const Model base(sizes);
  const auto gradients = backward(diagonal_kernel_backward_reference, sizes, base);
  std::vector<double> Model::*const parts[] = {&Model::w_re, &Model::w_im, &Model::pole_re, &Model::pole_im};
  for (std::size_t part = 0; part < 4; ++part)
    for (std::size_t i = 0; i < sizes.N * sizes.H; ++i) {
      Model up = base, down = base;
      (up.*parts[part])[i] += 1e-3;
      (down.*parts[part])[i] -= 1e-3;
      EXPECT_NEAR(gradients[part][i], (loss(up) - loss(down)) / 2e-3, 2e-3 * (1 + std::abs(gradients[part][i])));
    }
}

KERNEL_TEST(KernelsDiagonalKernel, PlantedFaultsAreRejected) {
  const DiagonalKernelShape sizes{20, 5, 9};
  const Forward lost_mode = [](DiagonalKernelInput in, float* out) {
    in.shape.N -= 1;
    diagonal_kernel(in, out);
  };
  const Backward lost_step = [](DiagonalKernelInput in, const float* dout, const DiagonalKernelGradients& to) {
    in.shape.L -= 1;
    diagonal_kernel_backward(in, dout, to);
  };
  const Backward not_conjugate = [](const DiagonalKernelInput& in, const float* dout,
                                    const DiagonalKernelGradients& to) {
    diagonal_kernel_backward(in, dout, to);
    to.dpole.im[0] = -to.dpole.im[0];
  };
  EXPECT_FALSE(agrees(lost_mode, diagonal_kernel_backward, sizes));
  for (const Backward& wrong : {lost_step, not_conjugate}) EXPECT_FALSE(agrees(diagonal_kernel, wrong, sizes));
}

}  // namespace
}  // namespace mneme::kernels
