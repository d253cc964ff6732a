// A step goes on in the memory of its state, unless the state is held elsewhere.
#include "ops/next_state.h"

#include <gtest/gtest.h>

#include <functional>

#include "ops/diagonal_kernel.h"
#include "ops/matrix_step.h"
#include "ops/selective_scan.h"

namespace mneme::ops {
namespace {

using torch::Tensor;

// A state and a step that changes it.
struct Case {
  const char* name;
  Tensor state;
  std::function<void(Tensor&)> step;
};

std::vector<Case> cases() {
  torch::manual_seed(5);
  const auto drawn = [](std::initializer_list<std::int64_t> sizes) { return torch::randn(sizes); };
  const auto pair = [] {
    const auto part = [] { return torch::rand({2, 5}, torch::kFloat64); };
    return ComplexPair{part(), part()};
  };
  return {{"matrix", drawn({3, 2, 4, 6}),
           [k = drawn({3, 2, 4}), v = drawn({3, 2, 6})](Tensor& S) { matrix_step(S, k, k, v, {}, {}); }},
          {"selective", drawn({3, 4, 5}),
           [u = drawn({3, 4}), A = -torch::rand({4, 5}), B = drawn({3, 5}), D = drawn({4})](Tensor& h) {
             selective_scan_step(h, u, u, A, B, B, D, {});
           }},
          {"diagonal", drawn({3, 2, 5, 2}),
           [step = DiagonalStep(pair(), pair(), pair()), x = drawn({3, 2})](Tensor& s) { step(s, x); }}};
}

TEST(NextState, StaysInItsMemoryWhereNobodyElseHoldsIt) {
  const torch::NoGradGuard guard;
  for (Case& each : cases()) {
    const void* memory = each.state.data_ptr();
    each.step(each.state);
    EXPECT_EQ(each.state.data_ptr(), memory) << each.name;
  }
}

TEST(NextState, LeavesAStateAsItIsThatIsHeldElsewhere) {
  const torch::NoGradGuard guard;
  std::vector<Case> alone = cases(), held = cases(), seen = cases();
  for (std::size_t i = 0; i < alone.size(); ++i) {
    alone[i].step(alone[i].state);
    // By a copy of its handle, or as a part of something larger.
    const Tensor copy = held[i].state, before = copy.clone();
    held[i].step(held[i].state);
    EXPECT_TRUE(torch::equal(copy, before)) << held[i].name;
    EXPECT_TRUE(torch::equal(held[i].state, alone[i].state)) << held[i].name;
    const Tensor whole = torch::stack({seen[i].state, seen[i].state}), kept = whole.clone();
    Tensor part = whole.select(0, 1);
    seen[i].step(part);
    EXPECT_TRUE(torch::equal(whole, kept)) << seen[i].name;
    EXPECT_TRUE(torch::equal(part, alone[i].state)) << seen[i].name;
  }
}

}  // namespace
}  // namespace mneme::ops
