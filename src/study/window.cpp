#include "study/window.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace mneme::study {
namespace {

// Rates are rounded to six digits, and so are the positions of a window's ends.
constexpr double kSameWidth = 1e-5;

bool is_better(const Window& a, const Window& b) {
  if (std::abs(a.width - b.width) > kSameWidth) return a.width > b.width;
  return a.rates > b.rates;
}

}  // namespace

std::size_t successes_needed(double share, std::size_t seeds) {
  // A hair below: 0.6 * 5 must be 3, whatever its last bit is.
  const auto needed = static_cast<std::size_t>(std::ceil(share * static_cast<double>(seeds) - 1e-9));
  return std::clamp<std::size_t>(needed, 1, seeds);
}

std::optional<bool> is_trainable(std::size_t good, std::size_t bad, std::size_t seeds, double share) {
  require(seeds >= 1, "a rate has at least one seed");
  const std::size_t needed = successes_needed(share, seeds);
  if (good >= needed) return true;
  if (bad > seeds - needed) return false;
  return std::nullopt;
}

std::optional<Window> find_window(std::span<const double> positions, std::span<const std::optional<bool>> trainable) {
  require(positions.size() == trainable.size(), "a verdict for each rate");
  std::optional<Window> widest;
  std::optional<Window> stretch;
  std::optional<std::size_t> bad;
  const auto close = [&] {
    if (stretch && (!widest || is_better(*stretch, *widest))) widest = stretch;
    stretch.reset();
  };
  const std::size_t rates = positions.size();
  for (std::size_t rate = 0; rate < rates; ++rate) {
    if (!trainable[rate]) continue;
    if (!*trainable[rate]) {
      if (stretch) stretch->hi_is_sharp = stretch->hi + 1 == rate;
      close();
      bad = rate;
      continue;
    }
    if (!stretch)
      stretch = Window{.lo = rate, .open_low = rate == 0, .lo_is_sharp = rate == 0 || (bad && *bad + 1 == rate)};
    stretch->hi = rate;
    stretch->width = positions[rate] - positions[stretch->lo];
    stretch->rates += 1;
    stretch->open_high = stretch->hi_is_sharp = rate + 1 == rates;
  }
  close();
  return widest;
}

std::optional<Window> find_window(const SeedGrid& grid, const WindowRule& rule) {
  std::vector<std::optional<bool>> trainable;
  for (const std::vector<double>& seeds : grid.accuracy) {
    std::size_t good = 0, bad = 0;
    for (const double accuracy : seeds)
      if (!std::isnan(accuracy)) ++(accuracy >= rule.threshold ? good : bad);
    trainable.push_back(is_trainable(good, bad, seeds.size(), rule.share));
  }
  return find_window(grid.positions, trainable);
}

}  // namespace mneme::study
