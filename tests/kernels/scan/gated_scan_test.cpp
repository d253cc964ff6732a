#include "kernels/scan/gated_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <string>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::expect_slopes;
using mneme::testing::GuardedArray;
using mneme::testing::kPoison;
using mneme::testing::relative_error;
using mneme::testing::Results;
using mneme::testing::worst_of;

// Worst seen on any target: 9.2e-7. The reference works in double.
constexpr double kTolerance = 3e-6;

struct Shape {
  std::size_t B, L, H, G, K, V;
  Decay decay;
  std::size_t shift = 0;  // misalignment of every array, and floats between the tokens of the inputs
  bool weighted = false;
};

void PrintTo(const Shape& s, std::ostream* out) {
  *out << "K " << s.K << ", V " << s.V << ", decay " << static_cast<int>(s.decay);
}

struct Kernels {
  std::function<void(const GatedScanInput&, float*, const GatedScanSaved&)> forward = gated_scan;
  std::function<void(const GatedScanInput&, const GatedScanSaved&, const float*, const GatedScanGradients&)> backward =
      gated_scan_backward;
};

const Kernels kReference = {gated_scan_reference, gated_scan_backward_reference};

std::vector<float> chosen_rows(const std::vector<float>& all, const std::vector<std::int64_t>& rows,
                               std::size_t width) {
  std::vector<float> chosen;
  for (const std::int64_t r : rows) {
    const auto begin = all.begin() + r * static_cast<std::ptrdiff_t>(width);
    chosen.insert(chosen.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return chosen;
}

class Problem {
 public:
  explicit Problem(const Shape& shape)
      : s_(shape),
        q_(tokens() * (s_.G * s_.K + s_.shift), s_.shift),
        k_(q_.size(), s_.shift),
        v_(tokens() * (s_.H * s_.V + s_.shift), s_.shift),
        g_(s_.decay == Decay::constant ? s_.H : tokens() * (decays() + s_.shift), s_.shift),
        w_(tokens() * (s_.H + s_.shift), s_.shift),
        dout_(tokens() * s_.H * s_.V, s_.shift) {
    std::uint64_t seed = 1;
    for (GuardedArray* array : {&q_, &k_, &v_, &g_, &w_, &dout_}) array->fill_normal(++seed);
    for (std::size_t i = 0; i < g_.size(); ++i) g_[i] = -0.3F * std::abs(g_[i]);
  }

  std::size_t tokens() const { return s_.B * s_.L; }
  std::size_t decays() const { return s_.decay == Decay::channel ? s_.G * s_.K : s_.H; }
  GatedScanInput input() {
    const auto rows = [&](GuardedArray& array, std::size_t width) { return Rows{array.data(), width + s_.shift}; };
    return {s_.B,
            s_.L,
            s_.H,
            s_.G,
            s_.K,
            s_.V,
            rows(q_, s_.G * s_.K),
            rows(k_, s_.G * s_.K),
            rows(v_, s_.H * s_.V),
            s_.decay,
            s_.decay == Decay::none ? Rows{} : rows(g_, decays()),
            s_.weighted ? rows(w_, s_.H) : Rows{}};
  }

  Results run(const Kernels& kernels) { return run(kernels, input(), dout_.values()); }
  Results run_at(const std::vector<std::int64_t>& positions) {
    GatedScanInput in = input();
    const std::int64_t none = 0;
    in.positions = positions.empty() ? &none : positions.data();
    in.R = positions.size();
    return run({}, in, chosen_rows(dout_.values(), positions, s_.H * s_.V));
  }

  // Outputs at other positions have no gradient.
  Problem& keep_outputs(const std::vector<std::int64_t>& positions) {
    const std::size_t row = s_.H * s_.V;
    for (std::size_t t = 0; t < tokens(); ++t)
      if (std::find(positions.begin(), positions.end(), static_cast<std::int64_t>(t)) == positions.end())
        for (std::size_t i = 0; i < row; ++i) dout_[t * row + i] = 0.0F;
    return *this;
  }

  double loss(const Kernels& kernels) {
    GuardedArray o(dout_.size(), 0);
    kernels.forward(input(), o.data(), {});
    double sum = 0;
    for (std::size_t i = 0; i < o.size(); ++i) sum += static_cast<double>(o[i]) * dout_[i];
    return sum;
  }

  std::map<std::string, GuardedArray*> inputs() {
    std::map<std::string, GuardedArray*> result = {{"dq", &q_}, {"dk", &k_}, {"dv", &v_}};
    if (s_.decay == Decay::head || s_.decay == Decay::channel) result["dg"] = &g_;
    if (s_.weighted) result["dw"] = &w_;
    return result;
  }

 private:
  Results run(const Kernels& kernels, const GatedScanInput& in, const std::vector<float>& dout) {
    const std::size_t keys = tokens() * s_.G * s_.K;
    GuardedArray o(dout.size(), s_.shift), dq(keys, s_.shift), dk(keys, s_.shift), dv(dout_.size(), s_.shift),
        dg(tokens() * decays(), s_.shift), dw(tokens() * s_.H, s_.shift), states(in.states_size(), s_.shift),
        gradient(dout.size(), s_.shift);
    std::copy(dout.begin(), dout.end(), gradient.data());
    kernels.forward(in, o.data(), {states.data()});
    kernels.backward(in, {states.data()}, gradient.data(), {dq.data(), dk.data(), dv.data(), dg.data(), dw.data()});
    for (GuardedArray* array : {&o, &dq, &dk, &dv, &dg, &dw, &states}) EXPECT_TRUE(array->margins_intact());
    Results results = {
        {"o", o.values()}, {"dq", dq.values()}, {"dk", dk.values()}, {"dv", dv.values()}, {"dg", dg.values()}};
    if (s_.weighted) results["dw"] = dw.values();
    return results;
  }

  Shape s_;
  GuardedArray q_, k_, v_, g_, w_, dout_;
};

// The name of the worst tensor and its error.
std::pair<std::string, double> worst(const Kernels& kernels, const Shape& shape) {
  Problem problem(shape);
  return worst_of(problem.run(kernels), problem.run(kReference));
}

constexpr Decay kDecays[] = {Decay::none, Decay::constant, Decay::head, Decay::channel};

KERNEL_TEST(KernelsGatedScan, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const Decay decay : kDecays)
    for (const std::size_t K : {1, 3, 4, 16, 17, 33})
      for (const std::size_t V : {1, 5, 8, 16, 31, 65}) {
        const auto [name, error] = worst({}, {2, 35, 2, 2, K, V, decay, K % 3});
        EXPECT_LE(error, kTolerance) << name << ", K " << K << ", V " << V << ", decay " << static_cast<int>(decay);
      }
}

KERNEL_TEST(KernelsGatedScan, LengthsAroundTheChunk) {
  for (const Decay decay : kDecays)
    for (const std::size_t L : {1, 2, 31, 32, 33, 64, 70, 200}) {
      // A token at a time, and in chunks.
      for (const auto& [K, V] : {std::pair{5, 6}, {33, 65}}) {
        const auto [name, error] =
            worst({}, {2, L, 2, 1, static_cast<std::size_t>(K), static_cast<std::size_t>(V), decay, 1});
        EXPECT_LE(error, kTolerance) << name << ", L " << L << ", K " << K << ", decay " << static_cast<int>(decay);
      }
    }
}

KERNEL_TEST(KernelsGatedScan, HeadsOfOneGroupShareQueriesAndKeys) {
  for (const Decay decay : kDecays) {
    const auto [name, error] = worst({}, {2, 9, 6, 2, 5, 3, decay, 1});
    EXPECT_LE(error, kTolerance) << name << ", decay " << static_cast<int>(decay);
  }
}

KERNEL_TEST(KernelsGatedScan, ValuesHaveWeights) {
  for (const Decay decay : kDecays)
    for (const std::size_t L : {1, 31, 32, 33, 70})
      for (const auto& [K, V] : {std::pair{5, 6}, {33, 65}}) {
        const auto [name, error] =
            worst({}, {2, L, 4, 2, static_cast<std::size_t>(K), static_cast<std::size_t>(V), decay, 1, true});
        EXPECT_LE(error, kTolerance) << name << ", L " << L << ", K " << K << ", decay " << static_cast<int>(decay);
      }
}

// Outputs are those of the full scan at these positions, and gradients those of a loss at these positions: one token at
// a time and in chunks, with chunks and sequences that have none.
KERNEL_TEST(KernelsGatedScan, OutputsAtOtherPositionsAreLeftOut) {
  for (const Decay decay : kDecays)
    for (const auto& [K, V] : {std::pair{5, 6}, {33, 65}})
      for (const std::vector<std::int64_t>& positions : {std::vector<std::int64_t>{0, 3, 31, 32, 69, 140, 209},
                                                         std::vector<std::int64_t>{69}, std::vector<std::int64_t>{}}) {
        const std::size_t row = 4 * static_cast<std::size_t>(V);
        Problem problem({3, 70, 4, 2, static_cast<std::size_t>(K), static_cast<std::size_t>(V), decay, 1, true});
        const Results all = problem.keep_outputs(positions).run(kReference), few = problem.run_at(positions);
        for (const auto& [name, values] : few) {
          std::vector<float> expected = all.at(name);
          if (name == "o") expected = chosen_rows(expected, positions, row);
          EXPECT_LE(relative_error(values, expected), kTolerance)
              << name << ", K " << K << ", " << positions.size() << " positions";
        }
      }
}

TEST(KernelsGatedScan, ReferenceGradientsAreDerivatives) {
  for (const Decay decay : kDecays) {
    Problem problem({1, 5, 2, 1, 3, 2, decay, 0, true});
    const Results gradients = problem.run(kReference);
    // Central differences of float32 outputs: 1e-2 steps leave about 1e-3 of error.
    for (auto& [name, array] : problem.inputs()) {
      SCOPED_TRACE(name);
      expect_slopes(
          *array, gradients.at(name), [&] { return problem.loss(kReference); }, 2e-3);
    }
  }
}

KERNEL_TEST(KernelsGatedScan, LaterTokensDoNotTouchEarlierBits) {
  for (const auto& shape : {Shape{1, 40, 1, 1, 5, 3, Decay::channel}, {1, 40, 1, 1, 32, 32, Decay::head}}) {
    Problem problem(shape);
    GuardedArray before(40 * shape.V, 0), after(40 * shape.V, 0);
    gated_scan(problem.input(), before.data(), {});
    (*problem.inputs().at("dk"))[36 * shape.K] += 1.0F;
    gated_scan(problem.input(), after.data(), {});
    for (std::size_t i = 0; i < 36 * shape.V; ++i) EXPECT_EQ(before[i], after[i]);
    EXPECT_NE(before[36 * shape.V], after[36 * shape.V]);
  }
}

class GatedScanFaults : public ::testing::TestWithParam<Shape> {};

TEST_P(GatedScanFaults, AreRejected) {
  const Shape shape = GetParam();
  Kernels zeros;
  zeros.forward = [](const GatedScanInput& in, float* o, const GatedScanSaved& saved) {
    gated_scan(in, o, saved);
    std::fill(o, o + in.B * in.L * in.H * in.V, 0.0F);
  };
  EXPECT_GT(worst(zeros, shape).second, kTolerance);
  Kernels skipped_tail;
  skipped_tail.backward = [](const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                             const GatedScanGradients& gradients) {
    gated_scan_backward(in, saved, dout, gradients);
    for (std::size_t row = 0; row < in.B * in.L * in.G; ++row) gradients.dk[row * in.K + 16] = 0.0F;
  };
  EXPECT_GT(worst(skipped_tail, shape).second, kTolerance);
  Kernels forgotten_state;
  forgotten_state.backward = [](const GatedScanInput& in, const GatedScanSaved&, const float* dout,
                                const GatedScanGradients& gradients) {
    std::vector<float> none(in.states_size(), 0.0F);
    gated_scan_backward(in, {none.data()}, dout, gradients);
  };
  EXPECT_GT(worst(forgotten_state, shape).second, kTolerance);
  Kernels no_decay_gradient;
  no_decay_gradient.backward = [](const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                                  const GatedScanGradients& gradients) {
    gated_scan_backward(in, saved, dout, gradients);
    std::fill(gradients.dg, gradients.dg + in.B * in.L * (in.decay == Decay::channel ? in.G * in.K : in.H), 0.0F);
  };
  EXPECT_GT(worst(no_decay_gradient, shape).second, kTolerance);
}

TEST_P(GatedScanFaults, OfWeightsAreRejected) {
  Shape shape = GetParam();
  shape.weighted = true;
  Kernels forgotten;
  forgotten.forward = [](const GatedScanInput& in, float* o, const GatedScanSaved& saved) {
    GatedScanInput unweighted = in;
    unweighted.w = {};
    gated_scan(unweighted, o, saved);
  };
  EXPECT_GT(worst(forgotten, shape).second, kTolerance);
  Kernels no_gradient;
  no_gradient.backward = [](const GatedScanInput& in, const GatedScanSaved& saved, const float* dout,
                            const GatedScanGradients& gradients) {
    gated_scan_backward(in, saved, dout, gradients);
    std::fill(gradients.dw, gradients.dw + in.B * in.L * in.H, 0.0F);
  };
  EXPECT_GT(worst(no_gradient, shape).second, kTolerance);
}

INSTANTIATE_TEST_SUITE_P(TokenByToken, GatedScanFaults, ::testing::Values(Shape{2, 40, 2, 2, 17, 5, Decay::channel}));
INSTANTIATE_TEST_SUITE_P(InChunks, GatedScanFaults, ::testing::Values(Shape{2, 40, 2, 2, 33, 40, Decay::head}));

}  // namespace
}  // namespace mneme::kernels
