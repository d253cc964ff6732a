// Leases in PostgreSQL: for several machines that share one lab's directory.
#pragma once

#include <string>

#include "store/lab.h"
#include "store/leases.h"
#include "store/postgres.h"

namespace mneme::store {

inline constexpr const char* kLeaseTable = "mneme_leases";
inline constexpr const char* kOldLeaseTable = "mneme_claims";  // up to version 0.1 (Lab::kOldLeasesId)

// The one that a lab's leases are in.
const char* lease_table(const Lab& lab);

// Whether the table is there, and why the connection's user could not keep leases in it: "" if nothing speaks against
// it.
struct LeaseTable {
  bool exists = false;
  std::string trouble;
};
LeaseTable examine_lease_table(PostgresConnection& connection, const char* table = kLeaseTable);

// In a table that is created if it is missing, under the lab's own name: one database serves many labs. Leases expire
// by the server's clock, so the machines' clocks need not agree.
std::unique_ptr<Leases> open_postgres_leases(PostgresConnection connection, std::string lab, LeaseOptions options,
                                             const char* table = kLeaseTable);

}  // namespace mneme::store
