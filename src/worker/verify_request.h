// The request "verify": golden cases against what our mixers compute.
#pragma once

#include <string>

#include "core/files.h"
#include "core/json.h"

namespace mneme::worker {

struct Verification {
  bool ok = false;
  std::string mixer;
  std::string tensor;   // the worst one
  double worst = 0;     // its error over the allowed one; ok means <= 1 for every tensor
  std::string message;  // why not, for a person
};

// Builds the case's mixer from its config, loads its parameters, runs forward and backward and compares
// every tensor: max|a-b| <= tolerance * max(max|ref|, 1e-3 * G), G = the largest |gradient| in the file;
// for `output` and `loss` just max|ref|. Throws Error(data) for a file that is not a golden case.
Verification verify_case(const Path& path, double tolerance);

void carry_out_verify(const Json& request);

}  // namespace mneme::worker
