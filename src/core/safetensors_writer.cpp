#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/safetensors.h"
#include "core/safetensors_format.h"
#include "core/text.h"

namespace mneme {
namespace {

void check_saveable(const std::string& name, const TensorView& tensor) {
  const std::size_t element = dtype_size(tensor.dtype);
  require(name != kMetadata && is_utf8(name), fmt::format("{} can be the name of a tensor", name));
  require(element > 0, fmt::format("tensor {} to be saved has a known dtype, not {}", name, tensor.dtype));
  require(byte_count(tensor.shape, element) == tensor.bytes.size() && tensor.shape.size() <= kMaxRank,
          fmt::format("tensor {} to be saved has the bytes of its shape", name));
}

// The header's length and the header, padded so that the data starts at a multiple of 8.
std::string file_start(const std::map<std::string, Json>& members, const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  const auto add = [&](std::string_view name, const Json& value) {
    header += fmt::format("{}{}:{}", header.size() > 1 ? "," : "", Json(name).dump(), value.dump());
  };
  for (const auto& [key, value] : metadata) require(is_utf8(key) && is_utf8(value), "metadata to be saved is UTF-8");
  if (!metadata.empty()) add(kMetadata, metadata);
  for (const auto& [name, member] : members) add(name, member);
  header += '}';
  header.append((kLengthBytes - header.size() % kLengthBytes) % kLengthBytes, ' ');
  require(header.size() <= kMaxHeader, "the header to be saved is within the format's limit");

  const std::uint64_t length = header.size();
  std::string start(kLengthBytes, '\0');
  std::memcpy(start.data(), &length, kLengthBytes);
  return start + header;
}

// What a file consists of; `start` owns the first piece.
struct Layout {
  std::string start;
  std::vector<std::span<const std::byte>> pieces;
};

Layout lay_out(const std::map<std::string, TensorView>& tensors, const std::map<std::string, std::string>& metadata) {
  using Item = std::pair<const std::string, TensorView>;
  std::vector<const Item*> order;
  for (const Item& item : tensors) {
    check_saveable(item.first, item.second);
    order.push_back(&item);
  }
  std::stable_sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
    return dtype_size(a->second.dtype) > dtype_size(b->second.dtype);
  });

  std::map<std::string, Json> members;
  Layout layout;
  layout.pieces.resize(1);
  std::uint64_t offset = 0;
  for (const Item* item : order) {
    const auto& [name, tensor] = *item;
    const std::uint64_t end = offset + tensor.bytes.size();
    members[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    layout.pieces.push_back(tensor.bytes);
    offset = end;
  }
  layout.start = file_start(members, metadata);
  return layout;
}

void commit_layout(const Path& path, Layout& layout, const Commit& commit) {
  layout.pieces[0] = std::as_bytes(std::span(layout.start));
  commit_file(path, layout.pieces, commit);
}

}  // namespace

std::string sealed_digest(std::span<const std::byte> file, std::string_view digest) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::size_t at = digest.size() == kDigestLength ? text.find(digest) : text.npos;
  if (at == text.npos) return "";
  Sha256 hash;
  hash.update(file.first(at));
  hash.update(std::string(kDigestLength, '0'));
  hash.update(file.subspan(at + kDigestLength));
  return hash.hex();
}

void save_safetensors(const Path& path, const std::map<std::string, TensorView>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Layout layout = lay_out(tensors, metadata);
  commit_layout(path, layout, {});
}

void save_sealed_safetensors(const Path& path, const std::map<std::string, TensorView>& tensors,
                             std::map<std::string, std::string> metadata, const Commit& commit) {
  const std::string zeros(kDigestLength, '0');
  metadata[std::string(kSeal)] = zeros;
  Layout layout = lay_out(tensors, metadata);
  Sha256 hash;
  hash.update(layout.start);
  for (std::size_t i = 1; i < layout.pieces.size(); ++i) hash.update(layout.pieces[i]);
  const std::string place = fmt::format("\"{}\":\"{}\"", kSeal, zeros);
  const std::size_t at = layout.start.find(place);
  require(at != layout.start.npos, "the seal has its place in the header");
  layout.start.replace(at + place.size() - 1 - kDigestLength, kDigestLength, hash.hex());
  commit_layout(path, layout, commit);
}

}  // namespace mneme
