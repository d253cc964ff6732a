// Which address leads to what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/answer.h"
#include "serve/request.h"

namespace mneme::serve {

// page: a file that is compiled in, or an error; api: LabThread answers; events: the stream of changes.
enum class Route { page, api, events };
Route route_of(const Request& request);

// The answer to a request of Route::page.
Answer page_answer(const Request& request);

// 304 without a body if the client has this very answer already.
Answer with_tag(const Answer& answer, std::string_view if_none_match);

// One server-sent event.
std::string event_text(std::uint64_t generation, std::string_view data);

}  // namespace mneme::serve
