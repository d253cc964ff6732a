#include "study/window_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/error.h"

namespace mneme::study {
namespace {

// The largest power of two that leaves at least three gaps.
std::size_t first_stride(std::size_t rates) {
  std::size_t stride = 1;
  while (stride * 2 * 3 <= rates - 1) stride *= 2;
  return stride;
}

}  // namespace

WindowSearch::WindowSearch(std::size_t rates, std::size_t seeds, WindowRule rule, std::size_t budget)
    : rates_(rates),
      seeds_(seeds),
      needed_(successes_needed(rule.share, seeds)),
      budget_(budget),
      stride_(first_stride(rates)),
      rule_(rule) {
  require(rates >= 2 && seeds >= 1, "a search has at least two rates and a seed");
}

std::optional<bool> WindowSearch::trainable(std::size_t rate, const CellResults& known) const {
  std::size_t good = 0, bad = 0;
  for (std::size_t seed = 0; seed < seeds_; ++seed) {
    const auto found = known.find({rate, seed});
    if (found != known.end()) ++(found->second >= rule_.threshold ? good : bad);
  }
  return is_trainable(good, bad, seeds_, rule_.share);
}

std::vector<Cell> WindowSearch::cells_to_decide(std::size_t rate, const CellResults& known) const {
  std::size_t good = 0, bad = 0;
  std::vector<Cell> missing;
  for (std::size_t seed = 0; seed < seeds_; ++seed) {
    const auto found = known.find({rate, seed});
    if (found == known.end())
      missing.emplace_back(rate, seed);
    else
      ++(found->second >= rule_.threshold ? good : bad);
  }
  // The fewest that can decide it.
  const std::size_t to_yes = needed_ - std::min(needed_, good);
  const std::size_t to_no = seeds_ - needed_ + 1 - std::min(seeds_ - needed_ + 1, bad);
  missing.resize(std::min(missing.size(), std::min(to_yes, to_no)));
  return missing;
}

std::vector<std::size_t> WindowSearch::coarse_rates(std::size_t stride) const {
  std::vector<std::size_t> rates;
  for (std::size_t rate = 0; rate < rates_; rate += stride) rates.push_back(rate);
  if (rates.back() != rates_ - 1) rates.push_back(rates_ - 1);
  return rates;
}

SeedGrid WindowSearch::grid(const CellResults& known) const {
  SeedGrid grid;
  for (std::size_t rate = 0; rate < rates_; ++rate) {
    grid.positions.push_back(static_cast<double>(rate));
    std::vector<double>& seeds = grid.accuracy.emplace_back(seeds_, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t seed = 0; seed < seeds_; ++seed)
      if (const auto found = known.find({rate, seed}); found != known.end()) seeds[seed] = found->second;
  }
  return grid;
}

std::optional<Window> WindowSearch::window(const CellResults& known) const { return find_window(grid(known), rule_); }

// The rates halfway between each edge and the nearest rate outside that is known not to be trainable.
std::vector<std::size_t> WindowSearch::edge_rates(const Window& window, const CellResults& known) const {
  std::vector<std::size_t> rates;
  if (!window.lo_is_sharp) {
    std::size_t outside = window.lo;
    while (outside > 0 && trainable(outside - 1, known) != false) --outside;
    rates.push_back(outside == 0 ? 0 : (outside - 1 + window.lo) / 2);
    if (rates.back() == window.lo) rates.back() = window.lo - 1;
  }
  if (!window.hi_is_sharp) {
    std::size_t outside = window.hi;
    while (outside + 1 < rates_ && trainable(outside + 1, known) != false) ++outside;
    rates.push_back(outside + 1 == rates_ ? rates_ - 1 : (outside + 1 + window.hi + 1) / 2);
    if (rates.back() == window.hi) rates.back() = window.hi + 1;
  }
  return rates;
}

std::vector<Cell> WindowSearch::next(const CellResults& known, std::size_t spent) const {
  std::vector<Cell> wanted;
  const auto want = [&](std::size_t rate) {
    const std::vector<Cell> cells = cells_to_decide(rate, known);
    wanted.insert(wanted.end(), cells.begin(), cells.end());
  };
  const auto allowed = [&] {
    const std::size_t left = budget_ > spent ? budget_ - spent : 0;
    if (wanted.size() > left) wanted.resize(left);
    return wanted;
  };
  for (const std::size_t rate : coarse_rates(stride_)) want(rate);
  if (!wanted.empty()) return allowed();

  const auto found = window(known);
  if (!found) {
    // Nothing yet: look between, first next to the best rate so far.
    std::size_t best = 0;
    double best_accuracy = -1;
    for (const auto& [cell, accuracy] : known)
      if (accuracy > best_accuracy) std::tie(best, best_accuracy) = std::pair(cell.first, accuracy);
    for (std::size_t stride = stride_ / 2; stride >= 1; stride /= 2) {
      std::vector<std::size_t> rates = coarse_rates(stride);
      std::stable_sort(rates.begin(), rates.end(), [&](std::size_t a, std::size_t b) {
        const auto distance = [&](std::size_t rate) { return rate > best ? rate - best : best - rate; };
        return distance(a) < distance(b);
      });
      for (const std::size_t rate : rates) {
        want(rate);
        if (wanted.size() >= 2 * needed_) return allowed();
      }
      if (!wanted.empty()) return allowed();
    }
    return {};
  }
  for (const std::size_t rate : edge_rates(*found, known)) want(rate);
  if (!wanted.empty()) return allowed();
  std::vector<std::size_t> edges{found->lo, found->hi};
  if (found->lo > 0) edges.push_back(found->lo - 1);
  if (found->hi + 1 < rates_) edges.push_back(found->hi + 1);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (const std::size_t rate : edges)
    for (std::size_t seed = 0; seed < seeds_; ++seed)
      if (!known.contains({rate, seed})) wanted.emplace_back(rate, seed);
  return allowed();
}

}  // namespace mneme::study
