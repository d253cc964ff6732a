#include "inspect/ridge.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace mneme::inspect {
namespace {

using torch::Tensor;

constexpr double kStrengths[] = {1e-8, 1e-6, 1e-4, 1e-2, 1.0};

// Which class has the largest score: scores [N, n V] -> [N, n].
Tensor guesses(const Tensor& scores, std::int64_t classes) {
  return scores.view({scores.size(0), -1, classes}).argmax(2);
}

}  // namespace

std::vector<double> probe_accuracy(const Tensor& x, const Tensor& labels, std::int64_t classes,
                                   const ProbeSplit& split) {
  require(x.size(0) == split.rows() && labels.size(0) == split.rows(), "as many rows as the split has");
  const Tensor all = x.to(torch::kFloat64);
  const Tensor centred = all - all.narrow(0, 0, split.train).mean(0);
  const Tensor train = centred.narrow(0, 0, split.train), held = centred.slice(0, split.train);
  // The dual form: as large as there are examples, whatever the size of the state.
  const Tensor gram = torch::matmul(train, train.t()), across = torch::matmul(held, train.t());
  const Tensor one_hot = torch::one_hot(labels, classes).to(torch::kFloat64).flatten(1);  // [N, n V]
  const Tensor mean = one_hot.narrow(0, 0, split.train).mean(0), targets = one_hot.narrow(0, 0, split.train) - mean;
  const Tensor right_of_validation = labels.narrow(0, split.train, split.validation),
               right_of_test = labels.narrow(0, split.train + split.validation, split.test);
  const double scale = gram.diagonal().mean().item<double>();
  const Tensor eye = torch::eye(split.train, gram.options());
  double best = -1;
  Tensor accuracy;
  for (const double strength : kStrengths) {
    // States that are all equal have nothing to scale by.
    const double ridge = scale > 0 ? strength * scale : 1.0;
    const Tensor factor = at::linalg_cholesky(gram + ridge * eye);
    const Tensor scores = torch::matmul(across, torch::cholesky_solve(targets, factor)) + mean;
    const Tensor guess = guesses(scores, classes);
    const double score =
        (guess.narrow(0, 0, split.validation) == right_of_validation).to(torch::kFloat64).mean().item<double>();
    if (score <= best) continue;
    best = score;
    accuracy = (guess.slice(0, split.validation) == right_of_test).to(torch::kFloat64).mean(0).contiguous();
  }
  const double* first = accuracy.data_ptr<double>();
  return {first, first + accuracy.numel()};
}

double bits_of_accuracy(double accuracy, std::int64_t classes) {
  const auto V = static_cast<double>(classes);
  if (classes < 2 || accuracy <= 1.0 / V) return 0;
  const double wrong = 1 - accuracy;
  return std::log2(V) + accuracy * std::log2(accuracy) + (wrong > 0 ? wrong * std::log2(wrong / (V - 1)) : 0.0);
}

double effective_rank(const Tensor& x) {
  const Tensor all = x.to(torch::kFloat64), centred = all - all.mean(0);
  const Tensor gram =
      centred.size(0) <= centred.size(1) ? torch::matmul(centred, centred.t()) : torch::matmul(centred.t(), centred);
  const Tensor squares = at::linalg_eigvalsh(gram);
  // Rounding leaves eigenvalues of 1e-16 of the largest where there are none.
  const double largest = squares.max().item<double>();
  if (!(largest > 0)) return 0;
  const Tensor singular = squares.index({squares > 1e-12 * largest}).sqrt();
  const Tensor share = singular / singular.sum();
  return std::exp(-(share * share.log()).sum().item<double>());
}

double mean_overlap(const Tensor& x) {
  const Tensor rows = x.to(torch::kFloat64), length = rows.norm(2, 1);
  const double longest = length.numel() > 0 ? length.max().item<double>() : 0;
  const Tensor kept = rows.index({length > 1e-9 * longest});
  if (!(longest > 0) || kept.size(0) < 2) return 0;
  const Tensor unit = kept / kept.norm(2, 1, true), overlap = torch::matmul(unit, unit.t()).abs();
  const auto n = static_cast<double>(kept.size(0));
  return (overlap.sum().item<double>() - overlap.diagonal().sum().item<double>()) / (n * (n - 1));
}

}  // namespace mneme::inspect
