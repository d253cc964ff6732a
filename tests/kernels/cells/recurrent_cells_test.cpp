#include "kernels/cells/recurrent_cells.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/harness.h"

namespace mneme::kernels {
namespace {

using mneme::testing::drawn;
using mneme::testing::expect_faults_rejected;
using mneme::testing::GuardedArray;
using mneme::testing::written;
using mneme::testing::Written;

// Worst seen on any target: 7.6e-7. The references work in double.
constexpr double kTolerance = 2e-6;
constexpr std::size_t kRows = 3;

using Cell = std::function<Written(std::size_t H, std::size_t shift, bool reference)>;

Written rnn(bool relu, std::size_t H, std::size_t shift, bool reference) {
  GuardedArray a = drawn(kRows * H, shift, 1, 1.5), dh = drawn(kRows * H, shift, 2, 1.5);
  GuardedArray h(kRows * H, shift), da(kRows * H, shift);
  (reference ? rnn_cell_reference : rnn_cell)({kRows, H}, relu, a.data(), h.data());
  (reference ? rnn_cell_backward_reference : rnn_cell_backward)({kRows, H}, relu, h.data(), dh.data(), da.data());
  return written({&h, &da});
}

Written lstm(std::size_t H, std::size_t shift, bool reference) {
  GuardedArray gates = drawn(kRows * 4 * H, shift, 1, 1.5), c_old = drawn(kRows * H, shift, 2, 1.5);
  GuardedArray dh = drawn(kRows * H, shift, 3, 1.5), dc = drawn(kRows * H, shift, 4, 1.5);
  GuardedArray c(kRows * H, shift), h(kRows * H, shift), da(kRows * 4 * H, shift);
  const LstmCellInput in{{kRows, H}, c_old.data()};
  const LstmCellSaved saved{gates.data(), c.data()};
  (reference ? lstm_cell_reference : lstm_cell)(in, h.data(), saved);
  (reference ? lstm_cell_backward_reference : lstm_cell_backward)(in, saved, dh.data(), {dc.data(), da.data()});
  return written({&gates, &c, &h, &dc, &da});
}

Written gru(std::size_t H, std::size_t shift, bool reference) {
  GuardedArray a = drawn(kRows * 3 * H, shift, 1, 1.5), b = drawn(kRows * 3 * H, shift, 2, 1.5),
               bias = drawn(H, shift, 3, 1.5);
  GuardedArray h_old = drawn(kRows * H, shift, 4, 1.5), dh = drawn(kRows * H, shift, 5, 1.5);
  GuardedArray gates(kRows * 4 * H, shift), h(kRows * H, shift), da(kRows * 3 * H, shift), db(kRows * 3 * H, shift);
  const GruCellInput in{{kRows, H}, h_old.data(), a.data(), b.data(), bias.data()};
  (reference ? gru_cell_reference : gru_cell)(in, h.data(), {gates.data()});
  // The gradient of h_old replaces that of h, as a layer does it.
  (reference ? gru_cell_backward_reference : gru_cell_backward)(in, {gates.data()}, dh.data(),
                                                                {dh.data(), da.data(), db.data()});
  return written({&gates, &h, &dh, &da, &db});
}

struct Named {
  const char* name;
  Cell cell;
};

const Named kCells[] = {
    {"rnn tanh", [](std::size_t H, std::size_t shift, bool reference) { return rnn(false, H, shift, reference); }},
    {"rnn relu", [](std::size_t H, std::size_t shift, bool reference) { return rnn(true, H, shift, reference); }},
    {"lstm", lstm},
    {"gru", gru},
};

bool agrees(const Written& ours, const Written& reference) { return worst_error(ours, reference) <= kTolerance; }

KERNEL_TEST(KernelsRecurrentCells, AgreeWithReferenceAtEverySizeAndAlignment) {
  for (const auto& [name, cell] : kCells)
    for (const std::size_t H : mneme::testing::kSizes)
      for (const std::size_t shift : {0, 1, 7})
        EXPECT_TRUE(agrees(cell(H, shift, false), cell(H, shift, true)))
            << name << ", H = " << H << ", shift " << shift;
}

KERNEL_TEST(KernelsRecurrentCells, PlantedFaultsAreRejected) {
  for (const auto& [name, cell] : kCells) {
    SCOPED_TRACE(name);
    const Written right = cell(17, 0, true);
    expect_faults_rejected(right, [&](const Written& ours) { return agrees(ours, right); });
  }
}

KERNEL_TEST(KernelsRecurrentCells, NotANumberIsKept) {
  for (const bool relu : {false, true})
    for (const auto kernel : {rnn_cell, rnn_cell_reference}) {
      std::vector<float> a(20, -1.0F), h(20, 7.0F);
      a[3] = a[19] = mneme::testing::kPoison;
      kernel({1, 20}, relu, a.data(), h.data());
      EXPECT_TRUE(std::isnan(h[3]) && std::isnan(h[19]));
      EXPECT_FLOAT_EQ(h[4], relu ? 0.0F : std::tanh(-1.0F));
    }
  std::vector<float> gates = {1.0F, 1.0F, 1.0F, mneme::testing::kPoison}, c_old = {5.0F}, c(1), h(1);
  lstm_cell({{1, 1}, c_old.data()}, h.data(), {gates.data(), c.data()});
  EXPECT_TRUE(std::isnan(h[0]));
}

KERNEL_TEST(KernelsRecurrentCells, ExtremeGatesSaturate) {
  for (const float extreme : {50.0F, 200.0F, 1e30F, INFINITY}) {
    std::vector<float> gates = {extreme, -extreme, extreme, extreme}, c_old = {5.0F}, c(1), h(1);
    lstm_cell({{1, 1}, c_old.data()}, h.data(), {gates.data(), c.data()});
    EXPECT_FLOAT_EQ(c[0], 1.0F) << extreme;
    EXPECT_FLOAT_EQ(h[0], std::tanh(1.0F)) << extreme;
  }
}

// The loss is sum(h * dh) (+ sum(c * dc)); each reference gradient against central differences.
TEST(KernelsRecurrentCells, ReferenceGradientsAreDerivatives) {
  constexpr float kStep = 1e-2F;
  const std::vector<float> start = {0.3F, -0.8F, 0.5F, 0.9F, -0.4F, 0.2F, 0.7F, -0.6F};
  const auto lstm_loss = [&](std::vector<float> v) {  // i f g o c_old
    float c, h;
    lstm_cell_reference({{1, 1}, v.data() + 4}, &h, {v.data(), &c});
    return 1.3 * h + 0.7 * c;
  };
  const auto gru_loss = [&](std::vector<float> v) {  // a (3), b (3), bias, h_old
    float gates[4], h;
    gru_cell_reference({{1, 1}, v.data() + 7, v.data(), v.data() + 3, v.data() + 6}, &h, {gates});
    return 1.3 * h;
  };
  const auto slope = [&](const auto& loss, std::size_t i) {
    std::vector<float> up = start, down = start;
    up[i] += kStep;
    down[i] -= kStep;
    return (loss(up) - loss(down)) / (2 * kStep);
  };
  {
    std::vector<float> v = start;
    float c, h, dh = 1.3F, dc = 0.7F, da[4];
    lstm_cell_reference({{1, 1}, v.data() + 4}, &h, {v.data(), &c});
    lstm_cell_backward_reference({{1, 1}, v.data() + 4}, {v.data(), &c}, &dh, {&dc, da});
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(da[i], slope(lstm_loss, i), 1e-4);
    EXPECT_NEAR(dc, slope(lstm_loss, 4), 1e-4);
  }
  {
    std::vector<float> v = start;
    float gates[4], h, dh = 1.3F, da[3], db[3];
    gru_cell_reference({{1, 1}, v.data() + 7, v.data(), v.data() + 3, v.data() + 6}, &h, {gates});
    gru_cell_backward_reference({{1, 1}, v.data() + 7, nullptr, nullptr, nullptr}, {gates}, &dh, {&dh, da, db});
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(da[i], slope(gru_loss, i), 1e-4);
      EXPECT_NEAR(db[i], slope(gru_loss, i + 3), 1e-4);
    }
    EXPECT_NEAR(db[2], slope(gru_loss, 6), 1e-4);
    EXPECT_NEAR(dh, slope(gru_loss, 7), 1e-4);
  }
}

}  // namespace
}  // namespace mneme::kernels
