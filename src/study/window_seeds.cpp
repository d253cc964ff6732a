#include "study/window_seeds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"

namespace mneme::study {
namespace {

constexpr std::size_t kEnumeratedSeeds = 5;
constexpr std::size_t kDraws = 2000;
// Rates are rounded to six digits.
constexpr double kWidthRounding = 1e-4;
constexpr double kTail = 0.025;

double deviation(const std::vector<double>& values) {
  // Equal values deviate by nothing, not by the rounding of their mean.
  if (values.empty() || std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; }))
    return 0.0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// The interval that leaves kTail of the values outside on each side.
std::pair<double, double> middle(std::vector<double> values) {
  if (values.empty()) return {0.0, 0.0};
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::size_t>(kTail * static_cast<double>(values.size()));
  return {values[cut], values[values.size() - 1 - cut]};
}

// What is known of a width: from `least` to `most`. No window is narrower than one of width 0.
struct Bounds {
  double least, most;
};

Bounds bounds_of(const std::optional<Window>& window) {
  if (!window) return {-1.0, -1.0};
  return {window->width, window->open() ? std::numeric_limits<double>::infinity() : window->width};
}

double seen_width(const std::optional<Window>& window) { return window ? window->width : 0.0; }

// One after the other: those of thousands of seeds would take 80 MB together.
template <class Take>
void each_draw(std::size_t seeds, const Take& take) {
  require(seeds >= 1, "a draw needs a seed");
  std::vector<std::size_t> chosen(seeds, 0);
  if (seeds > kEnumeratedSeeds) {
    const std::uint64_t key = stream_key(0, "window/seeds");
    for (std::size_t draw = 0; draw < kDraws; ++draw) {
      Random random(key, draw);
      for (std::size_t& seed : chosen) seed = random.below(static_cast<std::uint32_t>(seeds));
      take(chosen);
    }
    return;
  }
  while (true) {
    take(chosen);
    std::size_t place = 0;
    while (place < seeds && ++chosen[place] == seeds) chosen[place++] = 0;
    if (place == seeds) return;
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> seed_draws(std::size_t seeds) {
  std::vector<std::vector<std::size_t>> draws;
  each_draw(seeds, [&](const std::vector<std::size_t>& draw) { draws.push_back(draw); });
  return draws;
}

std::optional<Window> window_of_draw(const SeedGrid& grid, const WindowRule& rule,
                                     const std::vector<std::size_t>& draw) {
  std::vector<std::optional<bool>> trainable;
  for (const std::vector<double>& seeds : grid.accuracy) {
    std::size_t good = 0, bad = 0;
    const auto count = [&](double accuracy) {
      if (!std::isnan(accuracy)) ++(accuracy >= rule.threshold ? good : bad);
    };
    for (const std::size_t seed : draw) count(seeds[seed]);
    if (good + bad > 0) {
      trainable.push_back(is_trainable(good, bad, good + bad, rule.share));
      continue;
    }
    for (const double accuracy : seeds) count(accuracy);
    trainable.push_back(is_trainable(good, bad, seeds.size(), rule.share));
  }
  return find_window(grid.positions, trainable);
}

WindowUncertainty resample_seeds(const SeedGrid& grid, const WindowRule& rule) {
  std::vector<double> lows, highs, widths;
  std::size_t draws = 0;
  each_draw(grid.seeds(), [&](const std::vector<std::size_t>& draw) {
    ++draws;
    if (const auto window = window_of_draw(grid, rule, draw)) {
      lows.push_back(grid.positions[window->lo]);
      highs.push_back(grid.positions[window->hi]);
      widths.push_back(window->width);
    }
  });
  const auto [least, most] = middle(widths);
  return {deviation(lows),
          deviation(highs),
          deviation(widths),
          least,
          most,
          static_cast<double>(widths.size()) / static_cast<double>(draws)};
}

WindowComparison compare_windows(const SeedGrid& first, const SeedGrid& second, const WindowRule& rule) {
  const std::size_t seeds = std::max(first.seeds(), second.seeds());
  // A grid with fewer seeds takes the draw modulo its own number.
  const auto fitted = [](std::vector<std::size_t> draw, std::size_t own) {
    for (std::size_t& seed : draw) seed %= own;
    return draw;
  };
  std::size_t draws = 0, wider = 0, equal = 0, narrower = 0, at_least = 0;
  std::vector<double> differences;
  each_draw(seeds, [&](const std::vector<std::size_t>& draw) {
    ++draws;
    const auto a = window_of_draw(first, rule, fitted(draw, first.seeds()));
    const auto b = window_of_draw(second, rule, fitted(draw, second.seeds()));
    const Bounds one = bounds_of(a), other = bounds_of(b);
    const bool closed = std::isfinite(one.most) && std::isfinite(other.most);
    if (one.least > other.most + kWidthRounding) ++wider;
    if (other.least > one.most + kWidthRounding) ++narrower;
    if (closed && std::abs(one.least - other.least) <= kWidthRounding) ++equal;
    if (one.least >= other.most - kWidthRounding) ++at_least;
    differences.push_back(seen_width(a) - seen_width(b));
  });
  const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(draws); };
  const auto [least, most] = middle(differences);
  return {.wider = share(wider),
          .equal = share(equal),
          .narrower = share(narrower),
          .at_least = share(at_least),
          .unknown = share(draws - wider - equal - narrower),
          .least = least,
          .most = most,
          .draws = draws};
}

}  // namespace mneme::study
