// Which code this program was built from, and whether results of other code can be used as its own.
#pragma once

#include <string>
#include <string_view>

namespace mneme {

struct CodeIdentity {
  std::string version;  // "0.1.0", or "0.1.0-dev" between releases
  std::string build;    // 12 hex digits: a hash of every source that can change a number (cmake/code_identity.cmake)

  bool operator==(const CodeIdentity&) const = default;
};

const CodeIdentity& this_code();

// "0.1.0-dev, code 3f2a91bc07de"; "unknown code" if nothing is known.
std::string describe(const CodeIdentity& code);

// A version without a suffix: its sources are the released ones, whoever built them.
bool is_release(std::string_view version);

// same: the same sources, or the same release. unknown: made before builds were recorded.
enum class CodeMatch { same, unknown, other };
CodeMatch compare_code(const CodeIdentity& made, const CodeIdentity& here);

}  // namespace mneme
