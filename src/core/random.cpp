#include "core/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace mneme {
namespace {

// SplitMix64's finaliser: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t state = name.size();
  for (const char letter : name) state = mix(state ^ static_cast<unsigned char>(letter));
  return mix(state);
}

std::uint64_t stream_key(std::uint64_t seed, std::string_view stream) {
  return mix(mix(seed) ^ name_hash(stream));
}

std::uint64_t derived_seed(std::uint64_t seed, std::string_view part) {
  return stream_key(seed, part) >> 11;
}

std::array<std::uint32_t, 4> philox_block(std::uint64_t key, std::uint64_t item, std::uint64_t block) {
  const r123::Philox4x32::ctr_type counter{{low(block), high(block), low(item), high(item)}};
  const r123::Philox4x32::key_type words{{low(key), high(key)}};
  const auto result = r123::Philox4x32{}(counter, words);
  return {result[0], result[1], result[2], result[3]};
}

void Random::refill() {
  // The ten rounds on eight counters side by side, lane by lane as philox_block does them.
  constexpr unsigned kLanes = kBuffer / 4;
  std::array<std::uint32_t, kLanes> a, b, c, d;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    a[lane] = low(block_ + lane);
    b[lane] = high(block_ + lane);
    c[lane] = low(item_);
    d[lane] = high(item_);
  }
  std::uint32_t k0 = low(key_), k1 = high(key_);
  for (int round = 0; round < 10; ++round) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t p = std::uint64_t{0xD2511F53U} * a[lane];
      const std::uint64_t q = std::uint64_t{0xCD9E8D57U} * c[lane];
      a[lane] = high(q) ^ b[lane] ^ k0;
      b[lane] = low(q);
      c[lane] = high(p) ^ d[lane] ^ k1;
      d[lane] = low(p);
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    buffer_[4 * lane] = a[lane];
    buffer_[4 * lane + 1] = b[lane];
    buffer_[4 * lane + 2] = c[lane];
    buffer_[4 * lane + 3] = d[lane];
  }
  block_ += kLanes;
  used_ = 0;
}

std::uint32_t Random::bits() {
  if (used_ == kBuffer) refill();
  return buffer_[used_++];
}

std::uint32_t Random::below(std::uint32_t bound) {
  // Lemire's multiplication; the rejection zone is computed only when it can matter.
  std::uint64_t product = std::uint64_t{bits()} * bound;
  if (low(product) < bound) {
    const std::uint32_t threshold = -bound % bound;
    while (low(product) < threshold) product = std::uint64_t{bits()} * bound;
  }
  return high(product);
}

std::uint64_t Random::below64(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = -bound % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

double Random::normal() {
  if (std::exchange(has_spare_, false)) return spare_;
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

void shuffled(std::span<std::uint32_t> order, std::uint64_t key, std::uint64_t item) {
  std::iota(order.begin(), order.end(), 0U);
  Random random(key, item);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
}

}  // namespace mneme
