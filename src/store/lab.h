// A lab: the directory that holds runs, their index and reports (docs/run-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "store/run_directory.h"

namespace mneme::store {

class Lab {
 public:
  // `claims_address`: "" for claims in a file of the lab, else the URL of the database they are in.
  explicit Lab(Path root, std::string claims_address = "")
      : root_(std::move(root)), claims_address_(std::move(claims_address)) {}

  const Path& root() const { return root_; }
  Path runs() const { return root_ / "runs"; }
  Path index() const { return root_ / "index.db"; }
  Path claims() const { return root_ / "claims.db"; }
  Path claims_id() const { return root_ / "claims.id"; }
  const std::string& claims_address() const { return claims_address_; }
  Path studies() const { return root_ / "studies"; }
  Path reports() const { return root_ / "reports"; }
  Path trash() const { return root_ / "trash"; }  // made when something is removed (trash.h)
  RunDirectory run(std::string_view id) const { return RunDirectory(runs() / id); }

  // Makes the directories that are missing; throws Error(io) if one of them is a file.
  void create() const;
  // Throws Error(data) that says how a lab is made, unless there is one here.
  void require() const;

 private:
  Path root_;
  std::string claims_address_;
};

// The lab that a command works in: what was given, else MNEME_LAB, else ./lab; its claims where they were said to
// be, else where MNEME_CLAIMS says, else in the lab.
Lab choose_lab(std::string_view given, std::string_view claims_address = "");

}  // namespace mneme::store
