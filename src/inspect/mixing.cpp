#include "inspect/mixing.h"

#include <algorithm>

#include "core/error.h"
#include "ops/path.h"
#include "ops/tap.h"

namespace mneme::inspect {
namespace {

using ops::TapPoint;
using torch::Tensor;

// Tokens in one forward pass.
constexpr std::int64_t kRowTokens = 4096;

// Values and what was mixed from them, each cut out of the graph at both ends.
struct Pair {
  const torch::nn::Module* owner = nullptr;
  Tensor unmixed;  // a leaf; undefined without convolution
  Tensor made;     // the values as a function of it
  Tensor values;   // a leaf with the same numbers
  Tensor mixed;    // a function of that leaf
};

struct Site {
  const torch::nn::Module* mixer = nullptr;
  Tensor input, output;  // a leaf, and a function of it
  std::vector<Pair> pairs;
};

Tensor leaf_of(const Tensor& x) { return x.detach().clone().requires_grad_(true); }

class Recorder : public ops::TapListener {
 public:
  // `silent`: which pair, counted over the whole model, gets zeros for its values; -1: none.
  explicit Recorder(std::int64_t silent = -1) : silent_(silent) {}

  Tensor at(TapPoint point, const Tensor& x, const torch::nn::Module& owner) override {
    switch (point) {
      case TapPoint::embedded: return x.to(torch::kFloat64);
      case TapPoint::input: sites.push_back({&owner, leaf_of(x), {}, {}}); return sites.back().input;
      case TapPoint::unmixed: return unmixed_ = leaf_of(x);
      case TapPoint::values:
        site().pairs.push_back({&owner, unmixed_, x, leaf_of(count_++ == silent_ ? torch::zeros_like(x) : x), {}});
        unmixed_ = Tensor();
        return site().pairs.back().values;
      case TapPoint::mixed:
        require(!site().pairs.empty(), "values are tapped before what is mixed from them");
        site().pairs.back().mixed = x;
        return x.detach();
      case TapPoint::output: site().output = x; return x.detach();
      default: return x;
    }
  }

  std::vector<Site> sites;

 private:
  Site& site() {
    require(!sites.empty(), "a mixer's input is tapped first");
    return sites.back();
  }

  std::int64_t silent_, count_ = 0;
  Tensor unmixed_;
};

std::vector<Site> record(const Subject& subject, const Tensor& input, std::int64_t silent = -1) {
  const ops::ScopedComposed composed;
  Recorder recorder(silent);
  const ops::ScopedTap tap(recorder);
  nn::Pass pass = nn::Pass::evaluation();
  subject.model().hidden(input, pass);
  return std::move(recorder.sites);
}

Tensor derivative(const Tensor& of, const Tensor& by, const Tensor& along) {
  if (!of.requires_grad()) return torch::zeros_like(by);
  const Tensor result = torch::autograd::grad({of}, {by}, {along}, true, false, true)[0];
  return result.defined() ? result : torch::zeros_like(by);
}

// Row r selects position first + r: zeros like x [R, L, ...] with ones there, in channel `channel` or in all.
Tensor selection(const Tensor& x, std::int64_t first, std::int64_t channel = -1) {
  Tensor result = torch::zeros_like(x);
  for (std::int64_t r = 0; r < x.size(0); ++r) {
    Tensor place = result.select(0, r).select(0, first + r);
    (channel < 0 ? place : place.select(-1, channel)).fill_(1.0);
  }
  return result;
}

// Channels by head: [R, L, C] -> [R, L, 1, C], [R, L, n, H, d] (n values a token) -> [R, L, n, H, d] as it is.
Tensor heads_of(const Tensor& x) { return x.dim() == 3 ? x.unsqueeze(2) : x; }

// Mean over the channels of a head, the sum over several values of a token: [H, R, L].
Tensor by_head(const Tensor& x) {
  Tensor mean = heads_of(x).mean(-1);           // [R, L, H] or [R, L, n, H]
  if (mean.dim() == 4) mean = mean.sum(2);      // [R, L, H]
  return mean.permute({2, 0, 1}).contiguous();  // [H, R, L]
}

void add_linear(std::vector<Mixing>& rows, const Subject& subject, const Pair& pair, std::int64_t first,
                const Tensor& silent) {
  const Tensor M = derivative(pair.mixed, pair.values, selection(pair.mixed, first));  // as values, R rows
  Mixing mixing{
      subject.name_of(*pair.owner), subject.layer_of(*pair.owner), true, false, by_head(M.abs()), by_head(M), 0};
  Tensor product = (M * pair.values.detach()).sum(1);  // [R, ..]
  if (product.dim() == 4) product = product.sum(1);
  double worst = 0;
  for (std::int64_t r = 0; r < M.size(0); ++r) {
    const Tensor o = pair.mixed.detach().select(0, r).select(0, first + r), o0 = silent.select(0, first + r);
    worst = std::max(worst, (product.select(0, r) + o0 - o).abs().max().item<double>());
  }
  mixing.error = worst / std::max(pair.mixed.detach().abs().max().item<double>(), 1e-300);
  rows.push_back(std::move(mixing));
  if (!pair.unmixed.defined()) return;
  Tensor through = derivative(pair.made, pair.unmixed, M);  // [R, L, C]
  if (pair.values.dim() > 3 && through.dim() == 3) {
    const std::int64_t d = pair.values.size(-1);
    through = through.numel() == pair.values.numel() ? through.reshape(pair.values.sizes())
                                                     : through.unflatten(2, {through.size(2) / d, d});
  }
  rows.push_back({rows.back().module, rows.back().layer, true, true, by_head(through.abs()), by_head(through), 0});
}

void add_nonlinear(std::vector<Mixing>& rows, const Subject& subject, const Site& site, std::int64_t first) {
  Tensor squares = torch::zeros({site.input.size(0), site.input.size(1)}, torch::kFloat64);
  for (std::int64_t channel = 0; channel < site.output.size(-1); ++channel)
    squares += derivative(site.output, site.input, selection(site.output, first, channel)).square().sum(-1);
  rows.push_back({subject.name_of(*site.mixer), subject.layer_of(*site.mixer), false, false,
                  squares.sqrt().unsqueeze(0), Tensor(), 0});
}

// What each pair of the model mixes from zero values, [L, ..].
std::vector<Tensor> silent_outputs(const Subject& subject, const Tensor& input) {
  const auto all_pairs = [](const std::vector<Site>& sites) {
    std::vector<Tensor> mixed;
    for (const Site& site : sites)
      for (const Pair& pair : site.pairs) mixed.push_back(pair.mixed.detach().select(0, 0));
    return mixed;
  };
  const std::size_t count = all_pairs(record(subject, input)).size();
  std::vector<Tensor> outputs;
  for (std::size_t k = 0; k < count; ++k)
    outputs.push_back(all_pairs(record(subject, input, static_cast<std::int64_t>(k)))[k]);
  return outputs;
}

}  // namespace

std::vector<Mixing> mixing_matrices(const Subject& subject, const torch::Tensor& input) {
  require(input.size(0) == 1, "one example");
  const std::int64_t L = input.size(1), chunk = std::clamp<std::int64_t>(kRowTokens / L, 1, L);
  const std::vector<Tensor> silent = silent_outputs(subject, input);
  std::vector<std::vector<Mixing>> parts;
  for (std::int64_t first = 0; first < L; first += chunk) {
    std::vector<Mixing> rows;
    std::size_t pair_number = 0;
    for (const Site& site : record(subject, input.repeat({std::min(chunk, L - first), 1}))) {
      for (const Pair& pair : site.pairs) add_linear(rows, subject, pair, first, silent[pair_number++]);
      if (site.pairs.empty()) add_nonlinear(rows, subject, site, first);
    }
    parts.push_back(std::move(rows));
  }
  std::vector<Mixing> result = parts.front();
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::vector<Tensor> size, mean;
    for (const std::vector<Mixing>& part : parts) {
      size.push_back(part[i].size);
      if (part[i].mean.defined()) mean.push_back(part[i].mean);
      result[i].error = std::max(result[i].error, part[i].error);
    }
    result[i].size = torch::cat(size, 1);
    if (!mean.empty()) result[i].mean = torch::cat(mean, 1);
  }
  return result;
}

const std::vector<std::vector<Mixing>>& matrices_of(const Subject& subject, const Examples& examples) {
  if (subject.matrices_) return *subject.matrices_;
  constexpr std::int64_t kExamples = 4, kCostly = 2;
  std::vector<std::vector<Mixing>> all;
  const auto needed = [&] {
    const bool linear =
        all.empty() || std::all_of(all[0].begin(), all[0].end(), [](const Mixing& m) { return m.linear; });
    return static_cast<std::size_t>(std::min(examples.count(), linear ? kExamples : kCostly));
  };
  while (all.size() < needed())
    all.push_back(mixing_matrices(subject, examples.input.narrow(0, static_cast<std::int64_t>(all.size()), 1)));
  subject.matrices_ = std::make_shared<const std::vector<std::vector<Mixing>>>(std::move(all));
  return *subject.matrices_;
}

}  // namespace mneme::inspect
