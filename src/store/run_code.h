// Which code made a run, by its environment.json.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/code_identity.h"
#include "store/lab.h"

namespace mneme::store {

// The code that trained the run, the latest first: more than one if it went on from a checkpoint with another program.
// Empty if nothing is recorded, or if it cannot be read.
std::vector<CodeIdentity> codes_of(const RunDirectory& directory);

// other if any part of the run was made by other code, unknown if any part is unknown.
CodeMatch match_code(const RunDirectory& directory, const CodeIdentity& here = this_code());

// What to write into environment.json for a process that begins or continues the run.
Json environment_for(const RunDirectory& directory, Json fingerprint);

// Runs with something in them, by who made it. Runs that have not begun are in neither list.
struct OtherCode {
  std::vector<std::string> other, unknown;     // ids
  std::map<std::string, std::size_t> made_by;  // describe(code) -> runs, of the first list
};
OtherCode find_other_code(const Lab& lab, std::span<const std::string> ids, const CodeIdentity& here = this_code());

}  // namespace mneme::store
