// The mixing matrices of one example, as numbers to draw, and how exactly they reproduce what the mixers computed.
#include <algorithm>
#include <cmath>

#include "inspect/list.h"
#include "inspect/mixing.h"

namespace mneme::inspect {
namespace {

// A picture of more rows would show no more: of longer sequences it has the largest entry of each block.
constexpr std::int64_t kMostRows = 128;

// Three significant digits: what a picture needs.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

// [L, L] -> rows of numbers.
Json rows_of(const torch::Tensor& matrix, std::int64_t block) {
  const std::int64_t L = matrix.size(0);
  const auto entries = matrix.contiguous();
  const double* data = entries.data_ptr<double>();
  Json rows = Json::array();
  for (std::int64_t t = 0; t < L; t += block) {
    Json row = Json::array();
    for (std::int64_t s = 0; s < L; s += block) {
      double largest = 0;
      for (std::int64_t i = t; i < std::min(t + block, L); ++i)
        for (std::int64_t j = s; j < std::min(s + block, L); ++j) largest = std::max(largest, data[i * L + j]);
      row.push_back(rounded(largest));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> token_texts(const Subject& subject, const tasks::Example& example) {
  std::vector<std::string> texts;
  for (const std::int32_t token : example.tokens) texts.push_back(subject.task().token_text(token));
  for (const float step : example.signal) texts.push_back(step > 0.5F ? "1" : "0");
  return texts;
}

}  // namespace

Json mixing_matrix(const Subject& subject, const Examples& examples) {
  const auto& all = matrices_of(subject, examples);
  const std::int64_t L = examples.length(), block = (L + kMostRows - 1) / kMostRows;
  Json mixers = Json::array();
  double worst = 0;
  std::int64_t checked = 0;
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    const Mixing& mixing = all.front()[i];
    Json heads = Json::array();
    for (std::int64_t h = 0; h < mixing.size.size(0); ++h) heads.push_back(rows_of(mixing.size.select(0, h), block));
    double error = 0;
    for (const std::vector<Mixing>& example : all) error = std::max(error, example[i].error);
    if (mixing.linear && !mixing.convolved) {
      worst = std::max(worst, error);
      checked += static_cast<std::int64_t>(all.size()) * L;
    }
    Json one = {{"module", mixing.module}, {"layer", mixing.layer},
                {"linear", mixing.linear}, {"convolved", mixing.convolved},
                {"heads", heads},          {"error", mixing.linear && !mixing.convolved ? Json(error) : Json()}};
    if (mixing.linear) {
      const double size = mixing.mean.abs().sum().item<double>();
      one["negative"] = size > 0 ? Json(-mixing.mean.clamp_max(0).sum().item<double>() / size) : Json();
    }
    mixers.push_back(std::move(one));
  }
  Json roles = Json::array();
  for (const tasks::Role role : examples.roles.front()) roles.push_back(tasks::role_name(role));
  return {{"length", L},
          {"block", block},
          {"examples", all.size()},
          {"roles", roles},
          {"tokens", token_texts(subject, examples.examples.front())},
          {"mixers", mixers},
          {"worst_error", checked > 0 ? Json(worst) : Json()},
          {"checked_rows", checked}};
}

}  // namespace mneme::inspect
