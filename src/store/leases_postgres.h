// Leases in PostgreSQL: for several machines that share one lab's directory.
#pragma once

#include "store/leases.h"
#include "store/postgres.h"

namespace mneme::store {

inline constexpr const char* kLeaseTable = "mneme_leases";
inline constexpr const char* kOldLeaseTable = "mneme_claims";  // up to version 0.1 (Lab::kOldLeasesId)

// In a table that is created if it is missing, under the lab's own name: one database serves many labs. Leases expire
// by the server's clock, so the machines' clocks need not agree.
std::unique_ptr<Leases> open_postgres_leases(PostgresConnection connection, std::string lab, LeaseOptions options,
                                             const char* table = kLeaseTable);

}  // namespace mneme::store
