#include "store/lab.h"

#include <cstdlib>

#include "core/error.h"

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

void require_no_file(const Path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_directory(path, ignored))
    throw Error(ErrorKind::io, path.string(), "is a file, expected a directory; choose another lab with --lab");
}

std::string given_or(std::string_view given, const char* variable, const char* otherwise) {
  if (!given.empty()) return std::string(given);
  const char* chosen = std::getenv(variable);
  return chosen && *chosen ? chosen : otherwise;
}

}  // namespace

Path Lab::new_or_old(const char* name, const char* old) const {
  std::error_code ignored;
  return fs::exists(root_ / old, ignored) && !fs::exists(root_ / name, ignored) ? root_ / old : root_ / name;
}

void Lab::create() const {
  for (const Path& path : {root_, runs(), studies(), reports()}) {
    require_no_file(path);
    if (fs::exists(path)) continue;
    file_system().create_directories(path);
    file_system().sync_directory(path.parent_path());
  }
}

void Lab::require() const {
  require_no_file(root_);
  require_no_file(runs());
  std::error_code ignored;
  if (!fs::is_directory(runs(), ignored))
    throw Error(ErrorKind::data, root_.string(),
                "is not a lab, expected a directory with runs/ in it; `mneme demo` and `mneme train` create one, --lab "
                "and MNEME_LAB choose another");
}

Lab choose_lab(std::string_view given, std::string_view leases_address) {
  const std::string old_address = given_or("", "MNEME_CLAIMS", "");
  return Lab(given_or(given, "MNEME_LAB", "lab"), given_or(leases_address, "MNEME_LEASES", old_address.c_str()));
}

}  // namespace mneme::store
