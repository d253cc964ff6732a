// One request, as everything after the parser sees it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mneme::serve {

struct Request {
  std::string method = "GET";
  std::string target = "/";       // as it was sent
  std::vector<std::string> path;  // decoded parts: "/api/v1/runs" -> api, v1, runs; none for "/"
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in the order of the target
  // Fields that the server reads; "" for one that was not sent.
  std::string host, origin, cookie, authorization, if_none_match, fetch_site, fetch_mode;
  bool keep_alive = true;

  // Every value of a key of the query.
  std::vector<std::string> all(std::string_view key) const;
  // The first of them, or "".
  std::string first(std::string_view key) const;
};

// Takes a target apart into path and query. False unless it is the origin form ("/path?query") with whole percent
// codes.
bool parse_target(std::string_view target, Request& into);

// As JavaScript's encodeURIComponent: every byte that is not a letter, a digit or one of -._~!'()* as a percent code.
std::string percent_encoded(std::string_view text);

}  // namespace mneme::serve
