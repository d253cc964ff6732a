// Counter-based random numbers: every draw is a function of (seed, stream, index), never of history.
//
// Philox 4x32-10 (Random123) turns a 128-bit counter and a 64-bit key into 128 random bits. The key
// comes from a seed and the name of a stream; two words of the counter say which item of the stream is
// drawn (an example, a parameter, a step), the other two count blocks inside the item. So items can be
// made in any order, on any thread, after any restart, and have the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

namespace mneme {

// The key of a named stream. Streams in use: "data/train", "data/validation", "data/test", "init",
// "order", "dropout".
std::uint64_t stream_key(std::uint64_t seed, std::string_view stream);

// The seed of a part ("data", "init", "order", "dropout") derived from a run's one seed: below 2^53,
// so that every JSON reader keeps it exact.
std::uint64_t derived_seed(std::uint64_t seed, std::string_view part);

// 64 bits that depend on every character: the item number of something that has a name.
std::uint64_t name_hash(std::string_view name);

using PhiloxBlocks = std::array<std::uint32_t, 32>;

// The random numbers of one item, in order. Cheap to construct; copying continues independently.
class Random {
 public:
  Random(std::uint64_t key, std::uint64_t item) : key_(key), item_(item) {}

  std::uint32_t bits() {
    if (used_ == kBuffer) refill();
    return buffer_[used_++];
  }
  std::uint64_t bits64() { return (std::uint64_t{bits()} << 32) | bits(); }

  // Uniform in [0, bound), without bias. bound must be positive.
  std::uint32_t below(std::uint32_t bound) {
    // Lemire's multiplication; the rejection zone is computed only when it can matter.
    std::uint64_t product = std::uint64_t{bits()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = -bound % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  std::uint64_t below64(std::uint64_t bound);

  // Uniform in [0, 1), 53 bits.
  double uniform();
  // Standard normal (Box-Muller, both values used).
  double normal();

 private:
  void refill();

  static constexpr unsigned kBuffer = std::tuple_size_v<PhiloxBlocks>;
  std::uint64_t key_;
  std::uint64_t item_;
  std::uint64_t block_ = 0;
  unsigned used_ = kBuffer;
  bool has_spare_ = false;
  double spare_ = 0;
  PhiloxBlocks buffer_;
};

// One Philox block: the four words at `block` of `item`.
std::array<std::uint32_t, 4> philox_block(std::uint64_t key, std::uint64_t item, std::uint64_t block);

// The eight blocks from `block` on, the words of philox_block in order: with AVX2 where there is one, and plainly.
void philox_blocks(std::uint64_t key, std::uint64_t item, std::uint64_t block, PhiloxBlocks& out);
void philox_blocks_plain(std::uint64_t key, std::uint64_t item, std::uint64_t block, PhiloxBlocks& out);

// A uniformly random order of 0..n-1, a function of (key, item).
void shuffled(std::span<std::uint32_t> order, std::uint64_t key, std::uint64_t item);

}  // namespace mneme
