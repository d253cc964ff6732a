#include "serve/site.h"

#include <fmt/format.h>

#include <map>

#include "report/pages/assets.h"

namespace mneme::serve {
namespace {

// The one list of files. Nothing else has a name, so no request can name anything else.
const Answer* find_file(const Request& request) {
  static const std::map<std::string, Answer, std::less<>> files = [] {
    const auto file = [](const char* type, const char* asset) {
      return text_answer(type, std::string(report::asset(asset)));
    };
    return std::map<std::string, Answer, std::less<>>{
        {"", file("text/html", "dashboard/index.html")},
        {"app.js", file("text/javascript", "dashboard/app.js")},
        {"app.css", file("text/css", "dashboard/app.css")},
    };
  }();
  if (request.path.size() > 1) return nullptr;
  const auto found = files.find(request.path.empty() ? "" : request.path[0]);
  return found == files.end() ? nullptr : &found->second;
}

bool is_read(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

}  // namespace

Route route_of(const Request& request) {
  const bool api = request.path.size() >= 2 && request.path[0] == "api" && request.path[1] == "v1";
  if (!api || !is_read(request)) return Route::page;
  return request.path.size() == 3 && request.path[2] == "events" ? Route::events : Route::api;
}

Answer page_answer(const Request& request) {
  if (!is_read(request)) {
    Answer answer = error_answer(405, "nothing in this server can be changed", "GET or HEAD");
    answer.fields = {{"Allow", "GET, HEAD"}};
    return answer;
  }
  if (const Answer* file = find_file(request)) return with_tag(*file, request.if_none_match);
  return error_answer(404, "there is nothing at this address", "/ or /api/v1/lab");
}

Answer with_tag(const Answer& answer, std::string_view if_none_match) {
  if (answer.tag.empty() || if_none_match != answer.tag) return answer;
  Answer same = answer;
  same.status = 304;
  same.body = nullptr;
  return same;
}

std::string event_text(std::uint64_t generation, std::string_view data) {
  return fmt::format("event: change\nid: {}\ndata: {}\n\n", generation, data);
}

}  // namespace mneme::serve
