#include "kernels/scan/selective_scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::expect_slopes;
using mneme::testing::GuardedArray;
using mneme::testing::kPoison;
using mneme::testing::Results;
using mneme::testing::worst_of;

// Worst seen: 4.3e-6 (dD of a single channel, a sum that cancels; 9e-7 elsewhere). The reference works in double.
constexpr double kTolerance = 1e-5;

struct Shape {
  std::size_t B, L, E, N;
  bool gate;
  std::size_t shift = 0;  // misalignment of every array, and floats between the tokens of the inputs
};

struct Kernels {
  std::function<void(const SelectiveScanInput&, float*, const SelectiveScanSaved&)> forward = selective_scan;
  std::function<void(const SelectiveScanInput&, const SelectiveScanSaved&, const float*, const SelectiveScanGradients&)>
      backward = selective_scan_backward;
};

const Kernels kReference = {selective_scan_reference, selective_scan_backward_reference};

class Problem {
 public:
  explicit Problem(const Shape& shape)
      : s_(shape),
        u_(tokens() * (s_.E + s_.shift), s_.shift),
        pre_(u_.size(), s_.shift),
        z_(u_.size(), s_.shift),
        Bm_(tokens() * (s_.N + s_.shift), s_.shift),
        Cm_(Bm_.size(), s_.shift),
        A_(s_.E * s_.N, s_.shift),
        D_(s_.E, s_.shift),
        dy_(tokens() * s_.E, s_.shift) {
    std::uint64_t seed = 1;
    for (GuardedArray* array : {&u_, &pre_, &z_, &Bm_, &Cm_, &A_, &D_, &dy_}) array->fill_normal(++seed);
    for (std::size_t i = 0; i < A_.size(); ++i) A_[i] = -std::exp(A_[i]);
  }

  std::size_t tokens() const { return s_.B * s_.L; }
  SelectiveScanInput input() {
    const auto rows = [&](GuardedArray& array, std::size_t width) { return Rows{array.data(), width + s_.shift}; };
    return {s_.B,
            s_.L,
            s_.E,
            s_.N,
            rows(u_, s_.E),
            rows(pre_, s_.E),
            A_.data(),
            rows(Bm_, s_.N),
            rows(Cm_, s_.N),
            D_.data(),
            s_.gate ? rows(z_, s_.E) : Rows{}};
  }

  Results run(const Kernels& kernels) {
    const SelectiveScanInput in = input();
    GuardedArray y(dy_.size(), s_.shift), du(dy_.size(), s_.shift), dpre(dy_.size(), s_.shift),
        dz(dy_.size(), s_.shift), dBm(tokens() * s_.N, s_.shift), dCm(tokens() * s_.N, s_.shift),
        dA(A_.size(), s_.shift), dD(D_.size(), s_.shift), states(in.states_size(), s_.shift);
    kernels.forward(in, y.data(), {states.data()});
    kernels.backward(
        in, {states.data()}, dy_.data(),
        {du.data(), dpre.data(), dA.data(), dBm.data(), dCm.data(), dD.data(), s_.gate ? dz.data() : nullptr});
    for (GuardedArray* array : {&y, &du, &dpre, &dz, &dBm, &dCm, &dA, &dD, &states})
      EXPECT_TRUE(array->margins_intact());
    return {{"y", y.values()},     {"du", du.values()},   {"dpre", dpre.values()}, {"dz", dz.values()},
            {"dBm", dBm.values()}, {"dCm", dCm.values()}, {"dA", dA.values()},     {"dD", dD.values()}};
  }

  double loss(const Kernels& kernels) {
    GuardedArray y(dy_.size(), 0);
    kernels.forward(input(), y.data(), {});
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * dy_[i];
    return sum;
  }

  std::map<std::string, GuardedArray*> inputs() {
    return {{"du", &u_}, {"dpre", &pre_}, {"dz", &z_}, {"dBm", &Bm_}, {"dCm", &Cm_}, {"dA", &A_}, {"dD", &D_}};
  }

 private:
  Shape s_;
  GuardedArray u_, pre_, z_, Bm_, Cm_, A_, D_, dy_;
};

// The name of the worst tensor and its error.
std::pair<std::string, double> worst(const Kernels& kernels, const Shape& shape) {
  Problem problem(shape);
  return worst_of(problem.run(kernels), problem.run(kReference));
}

KERNEL_TEST(KernelsSelectiveScan, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t E : {1, 3, 4, 8, 15, 16, 17, 33})
    for (const std::size_t L : {1, 2, 15, 16, 17, 40})
      for (const bool gate : {false, true}) {
        const std::size_t N = E % 2 ? 4 : 17;
        const auto [name, error] = worst({}, {2, L, E, N, gate, L % 3});
        EXPECT_LE(error, kTolerance) << name << ", E " << E << ", L " << L << ", gate " << gate;
      }
}

KERNEL_TEST(KernelsSelectiveScan, ManyStates) {
  for (const std::size_t N : {1, 16, 31, 64}) {
    const auto [name, error] = worst({}, {1, 20, 5, N, true, 1});
    EXPECT_LE(error, kTolerance) << name << ", N " << N;
  }
}

TEST(KernelsSelectiveScan, ReferenceGradientsAreDerivatives) {
  Problem problem({1, 5, 3, 2, true});
  const Results gradients = problem.run(kReference);
  // Central differences of float32 outputs: 1e-2 steps leave about 1e-3 of error.
  for (auto& [name, array] : problem.inputs()) {
    SCOPED_TRACE(name);
    expect_slopes(
        *array, gradients.at(name), [&] { return problem.loss(kReference); }, 2e-3);
  }
}

KERNEL_TEST(KernelsSelectiveScan, LaterTokensDoNotTouchEarlierBits) {
  Problem problem({1, 40, 5, 3, true});
  GuardedArray before(200, 0), after(200, 0);
  selective_scan(problem.input(), before.data(), {});
  const auto inputs = problem.inputs();
  (*inputs.at("du"))[30 * 5] += 1.0F;
  selective_scan(problem.input(), after.data(), {});
  for (std::size_t i = 0; i < 30 * 5; ++i) EXPECT_EQ(before[i], after[i]);
  EXPECT_NE(before[30 * 5], after[30 * 5]);
}

KERNEL_TEST(KernelsSelectiveScan, ANaNInTheDecaysIsNotHidden) {
  Problem problem({1, 4, 3, 2, false});
  (*problem.inputs().at("dA"))[0] = kPoison;
  GuardedArray y(12, 0, 0.0F);
  selective_scan(problem.input(), y.data(), {});
  EXPECT_TRUE(std::isnan(y[3])) << "the state of channel 0 at the second token is decayed by NaN";
}

KERNEL_TEST(KernelsSelectiveScan, PlantedFaultsAreRejected) {
  const Shape shape{2, 20, 17, 4, true};
  Kernels zeros;
  zeros.forward = [&](const SelectiveScanInput& in, float* y, const SelectiveScanSaved& saved) {
    selective_scan(in, y, saved);
    std::fill(y, y + in.B * in.L * in.E, 0.0F);
  };
  EXPECT_GT(worst(zeros, shape).second, kTolerance);
  Kernels skipped_tail;
  skipped_tail.forward = [](const SelectiveScanInput& in, float* y, const SelectiveScanSaved& saved) {
    selective_scan(in, y, saved);
    for (std::size_t row = 0; row < in.B * in.L; ++row) y[row * in.E + 16] = kPoison;
  };
  EXPECT_GT(worst(skipped_tail, shape).second, kTolerance);
  Kernels forgotten_state;
  forgotten_state.backward = [](const SelectiveScanInput& in, const SelectiveScanSaved&, const float* dout,
                                const SelectiveScanGradients& gradients) {
    std::vector<float> none(in.states_size(), 0.0F);
    selective_scan_backward(in, {none.data()}, dout, gradients);
  };
  EXPECT_GT(worst(forgotten_state, shape).second, kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
