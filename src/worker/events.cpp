#include "worker/events.h"

#include <cstdio>
#include <string>

namespace mneme::worker {

void send_event(const char* event, Json fields) {
  fields["event"] = event;
  const std::string line = fields.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace mneme::worker
