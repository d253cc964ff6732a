// What the reader and the writer of safetensors both know of the format.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

static_assert(std::endian::native == std::endian::little, "the bytes of tensors are used as they are");

inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::uint64_t kMaxHeader = 100'000'000;
inline constexpr std::size_t kMaxRank = 64;
inline constexpr std::string_view kMetadata = "__metadata__";
inline constexpr std::string_view kSeal = "sha256";
inline constexpr std::size_t kDigestLength = 64;

// The bytes that a shape needs; nothing if a size is negative or they overflow 64 bits.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape, std::size_t element);

// The digest of a sealed file, whose own digest (its first occurrence) is counted as zeros.
std::string sealed_digest(std::span<const std::byte> file, std::string_view digest);

}  // namespace mneme
