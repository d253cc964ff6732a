// Lines out: one JSON event each (docs/worker-protocol.md).
#pragma once

#include "core/json.h"

namespace mneme::worker {

void send_event(const char* event, Json fields = Json::object());

}  // namespace mneme::worker
