// Mean |dL_t / dx_{t-l}| against l, x what enters the first layer, L_t the loss at one labelled position.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "inspect/fit.h"
#include "inspect/list.h"
#include "ops/tap.h"

namespace mneme::inspect {
namespace {

// Of an example: at most so many positions, spread over those with a label.
constexpr std::size_t kPositions = 16;
// Tokens in one forward pass.
constexpr std::int64_t kTokensAtOnce = 4096;

// Makes what enters the first layer a leaf.
class EmbeddedLeaf : public ops::TapListener {
 public:
  torch::Tensor at(ops::TapPoint point, const torch::Tensor& x, const torch::nn::Module&) override {
    if (point != ops::TapPoint::embedded) return x;
    return leaf = x.detach().to(torch::kFloat64).requires_grad_(true);
  }
  torch::Tensor leaf;  // [R, L, E]
};

// A mean by lag.
struct ByLag {
  explicit ByLag(std::int64_t length)
      : sum(static_cast<std::size_t>(length), 0.0), count(static_cast<std::size_t>(length), 0) {}
  void add(std::int64_t lag, double value) {
    sum[static_cast<std::size_t>(lag)] += value;
    ++count[static_cast<std::size_t>(lag)];
  }
  std::vector<double> sum;
  std::vector<std::int64_t> count;
};

struct Mean {
  void add(double value) {
    sum += value;
    ++count;
  }
  Json json() const { return count > 0 ? Json(sum / static_cast<double>(count)) : Json(); }
  double sum = 0;
  std::int64_t count = 0;
};

std::vector<std::int64_t> spread(const std::vector<std::int64_t>& positions) {
  if (positions.size() <= kPositions) return positions;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < kPositions; ++i) chosen.push_back(positions[(i + 1) * positions.size() / kPositions - 1]);
  return chosen;
}

}  // namespace

Json gradient_by_lag(const Subject& subject, const Examples& examples) {
  std::vector<std::int64_t> rows, at;
  for (std::size_t i = 0; i < examples.examples.size(); ++i)
    for (const std::int64_t t : spread(examples.labelled(i))) {
      rows.push_back(static_cast<std::int64_t>(i));
      at.push_back(t);
    }
  if (rows.empty()) return skipped("no position of these examples has a label");
  const std::int64_t L = examples.length(), chunk = std::max<std::int64_t>(kTokensAtOnce / L, 1);
  ByLag by_lag(L);
  Mean at_source, elsewhere;
  const auto R = static_cast<std::int64_t>(rows.size());
  for (std::int64_t first = 0; first < R; first += chunk) {
    const std::int64_t last = std::min(R, first + chunk);
    const std::vector<std::int64_t> some(rows.begin() + first, rows.begin() + last),
        where(at.begin() + first, at.begin() + last);
    EmbeddedLeaf listener;
    const ops::ScopedTap tap(listener);
    subject.losses(examples, some, where).sum().backward();
    const torch::Tensor size = listener.leaf.grad().norm(2, -1).contiguous();  // [R, L]
    const double* sizes = size.data_ptr<double>();
    for (std::size_t r = 0; r < some.size(); ++r) {
      const Examples::Asked asked = examples.asked(static_cast<std::size_t>(some[r]), where[r]);
      for (std::int64_t s = 0; s <= where[r]; ++s) {
        const double value = sizes[static_cast<std::int64_t>(r) * L + s];
        by_lag.add(where[r] - s, value);
        if (asked.value < 0 || s == where[r]) continue;
        (asked.value == s ? at_source : elsewhere).add(value);
      }
    }
  }
  Json lags = Json::array();
  std::vector<double> x, y;
  for (std::size_t l = 0; l < by_lag.sum.size(); ++l) {
    if (by_lag.count[l] == 0) continue;
    const double mean = by_lag.sum[l] / static_cast<double>(by_lag.count[l]);
    lags.push_back({{"lag", l}, {"mean", mean}, {"count", by_lag.count[l]}});
    if (l == 0) continue;
    x.push_back(static_cast<double>(l));
    y.push_back(mean);
  }
  return {{"losses", R},
          {"lags", lags},
          {"fit", decay_fit(x, y)},
          {"at_source", at_source.json()},
          {"elsewhere", elsewhere.json()}};
}

}  // namespace mneme::inspect
