#include "core/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/json_cursor.h"
#include "core/safetensors_format.h"
#include "core/text.h"

namespace mneme {
namespace {

constexpr std::array<std::string_view, 3> kFields = {"dtype", "shape", "data_offsets"};

struct Entry {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::array<std::uint64_t, 2> offsets{};
  std::uint64_t begin() const { return offsets[0]; }
  std::uint64_t end() const { return offsets[1]; }
};

[[noreturn]] void damaged(std::string_view where, std::string_view what) { throw Error(ErrorKind::data, where, what); }

// A name for messages: quoted, escaped, not too long.
std::string shown(std::string_view name) { return Json(shortened(name, 80)).dump(); }

std::vector<std::int64_t> read_shape(JsonCursor& cursor) {
  std::vector<std::int64_t> shape;
  cursor.array("'[' of a shape", [&] {
    if (shape.size() == kMaxRank) cursor.fail(fmt::format("at most {} sizes in a shape", kMaxRank));
    const std::uint64_t size = cursor.natural("a size, an integer >= 0");
    if (size > INT64_MAX) cursor.fail("a size below 2^63 before it");
    shape.push_back(static_cast<std::int64_t>(size));
  });
  return shape;
}

std::array<std::uint64_t, 2> read_offsets(JsonCursor& cursor) {
  std::array<std::uint64_t, 2> offsets{};
  std::size_t count = 0;
  cursor.array("'[' of data_offsets", [&] {
    if (count == offsets.size()) cursor.fail("two offsets only");
    offsets[count++] = cursor.natural("an offset, an integer >= 0");
  });
  if (count != offsets.size()) cursor.fail("two offsets before it");
  return offsets;
}

Entry read_entry(JsonCursor& cursor, std::string_view where, std::string_view name) {
  Entry entry;
  std::array<bool, kFields.size()> seen{};
  cursor.object("'{' of a tensor's description", [&](const std::string& key) {
    const auto field = static_cast<std::size_t>(std::find(kFields.begin(), kFields.end(), key) - kFields.begin());
    if (field == kFields.size())
      damaged(where,
              fmt::format("tensor {}: unknown key {}, expected {}", shown(name), shown(key), fmt::join(kFields, ", ")));
    if (std::exchange(seen[field], true))
      damaged(where, fmt::format("tensor {}: duplicate key {}", shown(name), shown(key)));
    if (key == "dtype") entry.dtype = cursor.string("a dtype in quotes");
    if (key == "shape") entry.shape = read_shape(cursor);
    if (key == "data_offsets") entry.offsets = read_offsets(cursor);
  });
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) damaged(where, fmt::format("tensor {}: missing key \"{}\"", shown(name), kFields[i]));
  return entry;
}

void read_metadata(JsonCursor& cursor, std::string_view where, std::map<std::string, std::string>& metadata) {
  cursor.object("'{' of __metadata__", [&](const std::string& key) {
    if (metadata.contains(key)) damaged(where, fmt::format("duplicate key {} in __metadata__", shown(key)));
    metadata[key] = cursor.string("a string in __metadata__");
  });
}

// Everything about one tensor that can be known without the others.
void check_entry(const Entry& entry, std::string_view name, std::uint64_t data_size, std::string_view where) {
  const auto fail = [&](std::string_view what) { damaged(where, fmt::format("tensor {}: {}", shown(name), what)); };
  const std::size_t element = dtype_size(entry.dtype);
  if (element == 0) fail(fmt::format("unknown dtype {}", shown(entry.dtype)));
  if (entry.begin() > entry.end()) fail(fmt::format("reversed offsets {} and {}", entry.begin(), entry.end()));
  if (entry.end() > data_size)
    fail(fmt::format("ends at byte {} of the data, beyond the file's {} bytes of data", entry.end(), data_size));
  const auto needed = byte_count(entry.shape, element);
  if (!needed) fail("overflow: the shape has more bytes than 64 bits can count");
  if (*needed != entry.end() - entry.begin())
    fail(fmt::format("size mismatch: got {} bytes, expected {} for its shape and dtype {}", entry.end() - entry.begin(),
                     *needed, entry.dtype));
}

// The tensors must cover the data without overlaps, holes or a rest.
void check_cover(const std::map<std::string, Entry>& entries, std::uint64_t data_size, std::string_view where) {
  std::vector<const std::pair<const std::string, Entry>*> order;
  order.reserve(entries.size());
  for (const auto& item : entries) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin(), a->second.end()) < std::pair(b->second.begin(), b->second.end());
  });
  std::uint64_t covered = 0;
  for (const auto* item : order) {
    const auto& [name, entry] = *item;
    if (entry.begin() < covered)
      damaged(where, fmt::format("overlap: tensor {} starts at byte {} of the data, the one before ends at {}",
                                 shown(name), entry.begin(), covered));
    if (entry.begin() > covered)
      damaged(where, fmt::format("hole: no tensor has bytes {} to {} of the data, before {}", covered, entry.begin(),
                                 shown(name)));
    covered = entry.end();
  }
  if (covered != data_size)
    damaged(where,
            fmt::format("trailing bytes: the tensors end at byte {} of the data, the file has {}", covered, data_size));
}

std::uint64_t header_size(std::span<const std::byte> file, std::string_view where) {
  if (file.size() < kLengthBytes)
    damaged(where, fmt::format("short file: got {} bytes, expected at least {}", file.size(), kLengthBytes));
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeader)
    damaged(where, fmt::format("header too large: got {} bytes, expected at most {}", length, kMaxHeader));
  if (length > file.size() - kLengthBytes)
    damaged(where, fmt::format("header longer than the file: got {} bytes, the file has {} after the length", length,
                               file.size() - kLengthBytes));
  return length;
}

}  // namespace

std::size_t dtype_size(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::size_t> kSizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  for (const auto& [name, size] : kSizes)
    if (name == dtype) return size;
  return 0;
}

std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape, std::size_t element) {
  std::uint64_t product = element;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return {};
    // A zero does not excuse the other sizes: strides are products of those too.
    empty = empty || size == 0;
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)), &product))
      return {};
  }
  return empty ? 0 : product;
}

SafetensorsContent parse_safetensors(std::span<const std::byte> file, std::string_view where) {
  const std::uint64_t length = header_size(file, where);
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  if (const std::size_t valid = utf8_prefix(header); valid != header.size())
    damaged(where, fmt::format("header is not UTF-8 at its byte {}", valid));
  if (!header.starts_with('{')) damaged(where, "header does not begin with '{'");

  SafetensorsContent content;
  std::map<std::string, Entry> entries;
  bool has_metadata = false;
  JsonCursor cursor(header, where);
  cursor.object("'{' of the header", [&](const std::string& name) {
    if (name == kMetadata ? std::exchange(has_metadata, true) : entries.contains(name))
      damaged(where, fmt::format("duplicate key {}", shown(name)));
    if (name == kMetadata)
      read_metadata(cursor, where, content.metadata);
    else
      check_entry(entries[name] = read_entry(cursor, where, name), name, data.size(), where);
  });
  cursor.end();
  check_cover(entries, data.size(), where);
  for (auto& [name, entry] : entries)
    content.tensors[name] = {std::move(entry.dtype), std::move(entry.shape),
                             data.subspan(entry.begin(), entry.end() - entry.begin())};
  return content;
}

Safetensors Safetensors::load(const Path& path) {
  const auto fail = [&](std::string_view action) {
    damaged(path.string(), fmt::format("cannot {}: {}", action, std::strerror(errno)));
  };
  // Not blocking: a FIFO must be refused, not waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("open");
  const std::shared_ptr<const void> closing(nullptr, [descriptor](const void*) { ::close(descriptor); });
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail("look at the file");
  if (!S_ISREG(status.st_mode)) damaged(path.string(), "not a file, expected a safetensors file");
  const auto size = static_cast<std::size_t>(status.st_size);

  Safetensors result;
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) fail("map");
    result.mapping_ = {address, [size](void* at) { ::munmap(at, size); }};
    bytes = {static_cast<const std::byte*>(address), size};
  }
  result.bytes_ = bytes;
  result.content_ = parse_safetensors(bytes, path.string());
  return result;
}

Safetensors Safetensors::load_sealed(const Path& path) {
  Safetensors file = load(path);
  const auto seal = file.metadata().find(std::string(kSeal));
  if (seal == file.metadata().end()) damaged(path.string(), "no checksum in the metadata, expected a sealed file");
  if (sealed_digest(file.bytes_, seal->second) != seal->second)
    damaged(path.string(), "checksum mismatch: the file was changed or damaged");
  return file;
}

}  // namespace mneme
