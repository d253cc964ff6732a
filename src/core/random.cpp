#include "core/random.h"

#include <Random123/philox.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

// Philox 4x32's constants (Salmon et al. 2011).
constexpr std::uint32_t kMultiplier0 = 0xD2511F53U, kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U, kWeyl1 = 0xBB67AE85U;
constexpr int kRounds = 10;
constexpr unsigned kBlocks = std::tuple_size_v<PhiloxBlocks> / 4;

#ifdef __x86_64__
// Eight blocks, one to each 64-bit lane of two vectors. Only the lower half of a lane counts: the
// multiplication reads no more, so the upper halves are cleared once, at the end.
__attribute__((target("avx2"))) void philox_blocks_avx2(std::uint64_t key, std::uint64_t item, std::uint64_t block,
                                                        std::uint32_t* out) {
  const __m256i m0 = _mm256_set1_epi64x(kMultiplier0), m1 = _mm256_set1_epi64x(kMultiplier1);
  const __m256i lower = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(block));
  __m256i a[2] = {_mm256_add_epi64(first, _mm256_setr_epi64x(0, 1, 2, 3)),
                  _mm256_add_epi64(first, _mm256_setr_epi64x(4, 5, 6, 7))};
  __m256i b[2] = {_mm256_srli_epi64(a[0], 32), _mm256_srli_epi64(a[1], 32)};
  __m256i c[2], d[2];
  c[0] = c[1] = _mm256_set1_epi64x(low(item));
  d[0] = d[1] = _mm256_set1_epi64x(high(item));
  std::uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const __m256i key0 = _mm256_set1_epi64x(k0), key1 = _mm256_set1_epi64x(k1);
    for (int half = 0; half < 2; ++half) {
      const __m256i p = _mm256_mul_epu32(a[half], m0), q = _mm256_mul_epu32(c[half], m1);
      a[half] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(q, 32), b[half]), key0);
      b[half] = q;
      c[half] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p, 32), d[half]), key1);
      d[half] = p;
    }
  }
  for (int half = 0; half < 2; ++half) {
    // Lanes of (a, b) and of (c, d); put together they are blocks 0 and 2, 1 and 3.
    const __m256i ab = _mm256_or_si256(_mm256_and_si256(a[half], lower), _mm256_slli_epi64(b[half], 32));
    const __m256i cd = _mm256_or_si256(_mm256_and_si256(c[half], lower), _mm256_slli_epi64(d[half], 32));
    const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
    auto* place = reinterpret_cast<__m256i*>(out + 16 * half);
    _mm256_storeu_si256(place, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(place + 1, _mm256_permute2x128_si256(even, odd, 0x31));
  }
}
#endif

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t state = name.size();
  for (const char letter : name) state = mix(state ^ static_cast<unsigned char>(letter));
  return mix(state);
}

std::uint64_t stream_key(std::uint64_t seed, std::string_view stream) { return mix(mix(seed) ^ name_hash(stream)); }

std::uint64_t derived_seed(std::uint64_t seed, std::string_view part) { return stream_key(seed, part) >> 11; }

std::array<std::uint32_t, 4> philox_block(std::uint64_t key, std::uint64_t item, std::uint64_t block) {
  const r123::Philox4x32::ctr_type counter{{low(block), high(block), low(item), high(item)}};
  const r123::Philox4x32::key_type words{{low(key), high(key)}};
  const auto result = r123::Philox4x32{}(counter, words);
  return {result[0], result[1], result[2], result[3]};
}

void philox_blocks_plain(std::uint64_t key, std::uint64_t item, std::uint64_t block, PhiloxBlocks& out) {
  std::array<std::uint32_t, kBlocks> a, b, c, d;
  for (unsigned lane = 0; lane < kBlocks; ++lane) {
    a[lane] = low(block + lane);
    b[lane] = high(block + lane);
    c[lane] = low(item);
    d[lane] = high(item);
  }
  std::uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    for (unsigned lane = 0; lane < kBlocks; ++lane) {
      const std::uint64_t p = std::uint64_t{kMultiplier0} * a[lane];
      const std::uint64_t q = std::uint64_t{kMultiplier1} * c[lane];
      a[lane] = high(q) ^ b[lane] ^ k0;
      b[lane] = low(q);
      c[lane] = high(p) ^ d[lane] ^ k1;
      d[lane] = low(p);
    }
  }
  for (unsigned lane = 0; lane < kBlocks; ++lane) {
    out[4 * lane] = a[lane];
    out[4 * lane + 1] = b[lane];
    out[4 * lane + 2] = c[lane];
    out[4 * lane + 3] = d[lane];
  }
}

void philox_blocks(std::uint64_t key, std::uint64_t item, std::uint64_t block, PhiloxBlocks& out) {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return philox_blocks_avx2(key, item, block, out.data());
#endif
  philox_blocks_plain(key, item, block, out);
}

void Random::refill() {
  philox_blocks(key_, item_, block_, buffer_);
  block_ += kBlocks;
  used_ = 0;
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
