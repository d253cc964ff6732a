#include "core/error.h"

#include <fmt/format.h>

namespace mneme {
namespace {

std::string compose(std::string_view where, std::string_view what) {
  return where.empty() ? std::string(what) : fmt::format("[{}] {}", where, what);
}

}  // namespace

Error::Error(ErrorKind kind, std::string_view where, std::string_view what)
    : std::runtime_error(compose(where, what)), kind_(kind) {}

void require(bool holds, std::string_view what, std::string_view file, int line) {
  if (holds) return;
  if (auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  throw Error(ErrorKind::internal, fmt::format("{}:{}", file, line), fmt::format("internal error: {}", what));
}

}  // namespace mneme
