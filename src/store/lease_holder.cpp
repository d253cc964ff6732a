#include "store/lease_holder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include "core/text.h"

namespace mneme::store {
namespace {

// A node of a cluster goes by the name that its users know.
std::string host_name() {
  if (const char* node = std::getenv("SLURMD_NODENAME"); node && *node) return node;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// Process ids start again with every boot, and in every container.
std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  std::error_code ignored;
  return id.substr(0, 8) + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

// When the process started, in ticks since the boot; "" if there is none.
std::string start_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name in parentheses may hold anything, so fields are counted from its end.
  const auto name_end = text.rfind(')');
  if (name_end == text.npos) return "";
  const std::vector<std::string> fields = split(text.substr(name_end + 2), ' ');
  constexpr std::size_t kState = 0, kStart = 19;
  return fields.size() > kStart && fields[kState] != "Z" ? fields[kStart] : "";
}

}  // namespace

std::string our_holder() {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{}/{}/{}/{}", host_name(), boot(), pid, start_of(pid));
}

std::string unique_name() {
  static std::atomic<std::int64_t> count = 0;
  return fmt::format("{}#{}", our_holder(), ++count);
}

bool is_gone(std::string_view holder) {
  const std::vector<std::string> parts = split(holder, '/');
  return parts.size() == 4 && parts[0] == host_name() && parts[1] == boot() && start_of(parts[2]) != parts[3];
}

std::string describe_holder(std::string_view holder) {
  const std::vector<std::string> parts = split(holder, '/');
  return parts.size() == 4 ? fmt::format("pid {} on {}", parts[2], parts[0]) : std::string(holder);
}

}  // namespace mneme::store
