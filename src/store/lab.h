// A lab: the directory that holds runs, their index and reports (docs/run-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "store/run_directory.h"

namespace mneme::store {

class Lab {
 public:
  // What these files were called up to version 0.1. A lab that has them keeps using them for one release, so that
  // commands of both versions see each other's leases.
  static constexpr const char* kOldLeases = "claims.db";
  static constexpr const char* kOldLeasesId = "claims.id";

  // `leases_address`: "" for leases in a file of the lab, else the URL of the database they are in.
  explicit Lab(Path root, std::string leases_address = "")
      : root_(std::move(root)), leases_address_(std::move(leases_address)) {}

  const Path& root() const { return root_; }
  Path runs() const { return root_ / "runs"; }
  Path index() const { return root_ / "index.db"; }
  Path leases() const { return new_or_old("leases.db", kOldLeases); }
  Path leases_id() const { return new_or_old("leases.id", kOldLeasesId); }
  const std::string& leases_address() const { return leases_address_; }
  Path studies() const { return root_ / "studies"; }
  Path reports() const { return root_ / "reports"; }
  Path trash() const { return root_ / "trash"; }  // made when something is removed (trash.h)
  RunDirectory run(std::string_view id) const { return RunDirectory(runs() / id); }

  // Makes the directories that are missing; throws Error(io) if one of them is a file.
  void create() const;
  // Throws Error(data) that says how a lab is made, unless there is one here.
  void require() const;

 private:
  Path new_or_old(const char* name, const char* old) const;

  Path root_;
  std::string leases_address_;
};

// The lab that a command works in: `given`, else MNEME_LAB, else ./lab. Its leases are at `leases_address`, else at
// MNEME_LEASES (for one more release: else at MNEME_CLAIMS), else in the lab.
Lab choose_lab(std::string_view given, std::string_view leases_address = "");

}  // namespace mneme::store
