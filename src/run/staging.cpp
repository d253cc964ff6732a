#include "run/staging.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/error.h"
#include "core/hash.h"
#include "store/lease_holder.h"

namespace mneme::run {
namespace {

namespace fs = std::filesystem;

// Marks of processes mean nothing on another disk, and temporaries nothing at all.
bool worth_copying(const Path& file) {
  const std::string name = file.filename().string();
  return name != "lock" && !name.starts_with("alive.") && !name.ends_with(".tmp");
}

// Through the seam of core/files.h, with a sync: what is moved to the lab shall outlive a power loss.
void copy_directory(const Path& from, const Path& to, bool durable) {
  file_system().create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    // Kept weights, evaluations and the sources of Python mixers have folders of their own.
    if (entry.is_directory()) copy_directory(entry.path(), to / entry.path().filename(), durable);
    if (!entry.is_regular_file() || !worth_copying(entry.path())) continue;
    const std::string bytes = read_file(entry.path());
    auto file = file_system().create(to / entry.path().filename());
    write_all(*file, std::as_bytes(std::span(bytes)));
    if (durable) file->sync();
    file->close();
  }
  if (durable) file_system().sync_directory(to);
}

}  // namespace

Staging::Staging(Path root, const store::Lab& lab)
    : root_(std::move(root) / ("mneme-" + sha256_hex(store::unique_name()).substr(0, 12))), lab_(lab) {
  file_system().create_directories(root_);
}

Staging::~Staging() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Staging::fetch(const std::string& run) const {
  std::error_code ignored;
  fs::remove_all(root_ / run, ignored);
  if (fs::is_directory(lab_.run(run).path(), ignored)) copy_directory(lab_.run(run).path(), root_ / run, false);
}

bool Staging::publish(const std::string& run, std::int64_t attempt, const WhileHeld& while_held) const {
  std::error_code ignored;
  if (!fs::is_directory(root_ / run, ignored)) return true;
  const Path arrivals = lab_.root() / "arrivals", target = lab_.run(run).path();
  const Path arrived = arrivals / fmt::format("{}.{}", run, attempt),
             old = arrivals / fmt::format("{}.before.{}", run, attempt);
  fs::remove_all(arrived, ignored);
  copy_directory(root_ / run, arrived, true);
  bool newer = false;
  const bool ours = while_held([&] {
    newer = lab_.run(run).attempt().number > attempt;
    if (newer) return;
    if (fs::exists(target)) file_system().rename(target, old);
    file_system().rename(arrived, target);
    file_system().sync_directory(lab_.runs());
  });
  fs::remove_all(arrived, ignored);
  fs::remove_all(old, ignored);
  fs::remove_all(root_ / run, ignored);
  return ours && !newer;
}

}  // namespace mneme::run
