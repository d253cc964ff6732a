#include "train/loss_head.h"

#include <gtest/gtest.h>

namespace mneme::train {
namespace {

// The head against torch's cross entropy over a whole matrix of logits; sizes make blocks with a rest.
TEST(HeadLoss, EqualsPlainCrossEntropyWithAndWithoutBias) {
  for (const bool biased : {false, true}) {
    torch::manual_seed(3);
    const std::int64_t R = 300, D = 12, V = 4099;
    const torch::Tensor h = torch::randn({R, D}).requires_grad_(true), E = torch::randn({V, D}).requires_grad_(true);
    const torch::Tensor b = biased ? torch::randn({V}).requires_grad_(true) : torch::Tensor();
    const torch::Tensor logits = biased ? torch::addmm(b, h, E.t()) : torch::mm(h, E.t());
    const torch::Tensor labels = torch::randint(V, {R});
    const torch::Tensor loss = torch::cross_entropy_loss(logits, labels);
    loss.backward();
    const torch::Tensor dh = h.grad().clone(), dE = E.grad().clone();

    const torch::Tensor small = labels.to(torch::kInt32);
    const std::span answers(small.data_ptr<std::int32_t>(), static_cast<std::size_t>(R));
    const torch::Tensor db = biased ? b.grad().clone() : torch::Tensor();
    E.mutable_grad() = torch::ones_like(E);  // the head adds to what is there
    if (biased) b.mutable_grad() = torch::ones_like(b);
    torch::Tensor rows_gradient;
    const HeadResult result = train_head(h.detach(), E, b, answers, 1.0 / R, rows_gradient);
    EXPECT_NEAR(result.loss_sum / R, loss.item<double>(), 1e-5);
    EXPECT_TRUE(torch::allclose(rows_gradient, dh, 1e-4, 1e-7));
    EXPECT_TRUE(torch::allclose(E.grad() - 1, dE, 1e-3, 1e-6));
    if (biased) {
      EXPECT_TRUE(torch::allclose(b.grad() - 1, db, 1e-3, 1e-6));
    }
    EXPECT_EQ(result.correct, (logits.argmax(1) == labels).sum().item<std::int64_t>());

    const HeadResult again = evaluate_head(h.detach(), E, b, answers);
    EXPECT_EQ(again.loss_sum, result.loss_sum);
    EXPECT_EQ(again.predictions, result.predictions);
  }
}

}  // namespace
}  // namespace mneme::train
