#include "core/code_identity.h"

// Generated at build time and read here only: an edit anywhere recompiles this one file (cmake/code_identity.cmake).
#include "core/code_identity_of_build.h"

namespace mneme {

const CodeIdentity& this_code() {
  static const CodeIdentity code{MNEME_CODE_VERSION, MNEME_CODE_BUILD};
  return code;
}

std::string describe(const CodeIdentity& code) {
  if (code.build.empty()) return code.version.empty() ? "unknown code" : code.version + ", unknown code";
  return code.version + ", code " + code.build;
}

bool is_release(std::string_view version) { return !version.empty() && version.find('-') == version.npos; }

CodeMatch compare_code(const CodeIdentity& made, const CodeIdentity& here) {
  if (made.build.empty()) return CodeMatch::unknown;
  if (made.build == here.build) return CodeMatch::same;
  return is_release(made.version) && made.version == here.version ? CodeMatch::same : CodeMatch::other;
}

}  // namespace mneme
