#include "store/run_code.h"

#include <algorithm>

namespace mneme::store {
namespace {

CodeIdentity identity_in(const Json& json) { return {json.value("mneme", ""), json.value("code", "")}; }

Json environment_of(const RunDirectory& directory) {
  const Path file = directory.path() / "environment.json";
  if (!std::filesystem::exists(file)) return Json::object();
  Json environment = parse_json(read_file(file), file.string());
  return environment.is_object() ? environment : Json::object();
}

// What trained the run so far, as environment.json lists it.
Json parts_of(const Json& environment) {
  Json parts = Json::array({{{"mneme", environment.value("mneme", "")}, {"code", environment.value("code", "")}}});
  for (const Json& earlier : environment.value("earlier", Json::array())) parts.push_back(earlier);
  return parts;
}

bool has_begun(const RunDirectory& directory) {
  return std::filesystem::exists(directory.path() / "summary.json") || directory.has_checkpoint();
}

}  // namespace

std::vector<CodeIdentity> codes_of(const RunDirectory& directory) try {
  const Json environment = environment_of(directory);
  std::vector<CodeIdentity> codes;
  if (environment.empty()) return codes;
  for (const Json& part : parts_of(environment)) codes.push_back(identity_in(part));
  return codes;
} catch (const std::exception&) {
  // Who made a run is a question about it, not a part of it: a damaged answer is none.
  return {};
}

CodeMatch match_code(const RunDirectory& directory, const CodeIdentity& here) {
  const std::vector<CodeIdentity> codes = codes_of(directory);
  CodeMatch worst = codes.empty() ? CodeMatch::unknown : CodeMatch::same;
  for (const CodeIdentity& code : codes) worst = std::max(worst, compare_code(code, here));
  return worst;
}

Json environment_for(const RunDirectory& directory, Json fingerprint) {
  if (!directory.has_checkpoint()) return fingerprint;
  try {
    const Json environment = environment_of(directory);
    if (environment.empty()) return fingerprint;
    Json earlier = Json::array();
    for (const Json& part : parts_of(environment))
      if (identity_in(part) != identity_in(fingerprint) &&
          std::find(earlier.begin(), earlier.end(), part) == earlier.end())
        earlier.push_back(part);
    if (!earlier.empty()) fingerprint["earlier"] = earlier;
  } catch (const std::exception&) {
    fingerprint["earlier"] = Json::array({{{"mneme", ""}, {"code", ""}}});
  }
  return fingerprint;
}

OtherCode find_other_code(const Lab& lab, std::span<const std::string> ids, const CodeIdentity& here) {
  OtherCode found;
  for (const std::string& id : ids) {
    const RunDirectory directory = lab.run(id);
    if (!has_begun(directory)) continue;
    const CodeMatch match = match_code(directory, here);
    if (match == CodeMatch::unknown) found.unknown.push_back(id);
    if (match != CodeMatch::other) continue;
    found.other.push_back(id);
    for (const CodeIdentity& code : codes_of(directory))
      if (compare_code(code, here) == CodeMatch::other) {
        ++found.made_by[describe(code)];
        break;
      }
  }
  return found;
}

}  // namespace mneme::store
