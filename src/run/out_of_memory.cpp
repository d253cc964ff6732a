#include "run/out_of_memory.h"

#include <fstream>
#include <string>

namespace mneme::run {

std::int64_t kernel_kill_count() {
  std::int64_t total = 0;
  for (const char* file : {"/proc/vmstat", "/sys/fs/cgroup/memory.events"}) {
    std::ifstream stream(file);
    std::string name;
    for (std::int64_t value = 0; stream >> name >> value;)
      if (name == "oom_kill") total += value;
  }
  return total;
}

}  // namespace mneme::run
