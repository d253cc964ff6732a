// Eigenvalues of the transitions of states, of their product over a sequence, and what follows for memory.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "inspect/list.h"
#include "inspect/transitions.h"

namespace mneme::inspect {
namespace {

using Complex = std::complex<double>;
using torch::Tensor;

constexpr std::int64_t kLongestProduct = 256;
constexpr std::size_t kMostPoints = 400;  // of a picture
// |lambda| of at least this counts as one that does not decay; what is nearer to zero than its complement as zero.
constexpr double kLasting = 0.999;

std::vector<Complex> values_of(const Tensor& x) {
  const Tensor flat = x.to(torch::kComplexDouble).flatten().contiguous();
  const auto* data = reinterpret_cast<const Complex*>(flat.data_ptr<c10::complex<double>>());
  return {data, data + flat.numel()};
}

std::vector<Complex> eigenvalues(const Tensor& A) {  // [.., n, n]
  return values_of(A.size(-1) == 1 ? A : torch::linalg_eigvals(A));
}

// The eigenvalues of the product over all tokens.
std::vector<Complex> product_eigenvalues(const Tensor& A) {  // [T, lanes, n, n]
  Tensor product = A.select(0, 0);
  for (std::int64_t t = 1; t < A.size(0); ++t)
    product = A.size(-1) == 1 ? product * A.select(0, t) : torch::matmul(A.select(0, t), product);
  return eigenvalues(product);
}

Json points(const std::vector<Complex>& values) {
  Json list = Json::array();
  const std::size_t count = std::min(values.size(), kMostPoints);
  for (std::size_t i = 0; i < count; ++i) {
    const Complex& value = values[i * values.size() / count];
    list.push_back({value.real(), value.imag()});
  }
  return list;
}

double share(const std::vector<Complex>& values, const auto& is_so) {
  return static_cast<double>(std::count_if(values.begin(), values.end(), is_so)) / static_cast<double>(values.size());
}

// Tokens until half is left, at a size of `rate` a token: null if it does not decay.
Json half_life(double rate) {
  if (rate >= 1) return {};
  return rate > 0 ? std::log(0.5) / std::log(rate) : 0.0;
}

// Of the sizes a token that the product over the sequence comes to, |lambda|^(1 / T).
Json half_lives(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  const auto at = [&](double quantile) {
    return half_life(rates[static_cast<std::size_t>(quantile * static_cast<double>(rates.size() - 1))]);
  };
  return {{"short", at(0.1)}, {"median", at(0.5)}, {"long", at(0.9)}, {"longest", at(1.0)}};
}

// How near an eigenvalue comes to exp(2 pi i / n) or its conjugate.
Json nearest_root(const std::vector<Complex>& values, std::int64_t n) {
  const Complex root = std::polar(1.0, 2 * std::numbers::pi / static_cast<double>(n));
  const auto distance = [&](const Complex& value) {
    return std::min(std::abs(value - root), std::abs(value - std::conj(root)));
  };
  const Complex nearest = *std::min_element(
      values.begin(), values.end(), [&](const Complex& a, const Complex& b) { return distance(a) < distance(b); });
  return {{"n", n},
          {"root", {root.real(), root.imag()}},
          {"nearest", {nearest.real(), nearest.imag()}},
          {"distance", distance(nearest)}};
}

Json spectrum_of(const Transitions& one, const Subject& subject) {
  const double spread = (one.A - one.A.select(0, 0)).abs().max().item<double>();
  const bool depends_on_input = spread > 1e-12;
  // One token speaks for all where they are alike.
  const std::vector<Complex> values = eigenvalues(depends_on_input ? one.A : one.A.narrow(0, 0, 1)),
                             products = product_eigenvalues(one.A);
  const auto T = static_cast<double>(one.A.size(0));
  std::vector<double> rates;
  for (const Complex& value : products) rates.push_back(std::pow(std::abs(value), 1.0 / T));
  double largest = 0;
  for (const Complex& value : values) largest = std::max(largest, std::abs(value));
  Json json = {{"layer", one.layer},
               {"module", one.module},
               {"mixer", one.mixer},
               {"size", one.A.size(-1)},
               {"lanes", one.lanes},
               {"tokens", one.A.size(0)},
               {"depends_on_input", depends_on_input},
               {"eigenvalues", points(values)},
               {"product", points(products)},
               {"largest", largest},
               {"below_zero", share(values, [](const Complex& v) { return v.real() < kLasting - 1; })},
               {"complex", share(values, [](const Complex& v) { return std::abs(v.imag()) > 1 - kLasting; })},
               {"lasting", share(values, [](const Complex& v) { return std::abs(v) >= kLasting; })},
               {"half_life", half_lives(rates)}};
  // Appendix I of paper B: a burst of n steps is counted by a state that turns by 2 pi / n a step.
  if (subject.run().task_entry->name == "counting")
    json["counting"] = nearest_root(values, subject.run().task.integer("isi"));
  return json;
}

}  // namespace

Json spectra(const Subject& subject, const Examples& examples) {
  Json mixers = Json::array(), left_out = Json::array();
  for (const Transitions& one : transitions(subject, examples.input.narrow(0, 0, 1), kLongestProduct)) {
    if (one.left_out.empty())
      mixers.push_back(spectrum_of(one, subject));
    else
      left_out.push_back({{"module", one.module}, {"mixer", one.mixer}, {"why", one.left_out}});
  }
  if (mixers.empty())
    return skipped(left_out.empty()
                       ? "no mixer of this model has a state"
                       : left_out[0]["mixer"].get<std::string>() + ": " + left_out[0]["why"].get<std::string>());
  return {{"mixers", mixers}, {"left_out", left_out}};
}

}  // namespace mneme::inspect
