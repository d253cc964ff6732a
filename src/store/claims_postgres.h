// Claims in PostgreSQL: for several machines that share one lab's directory.
#pragma once

#include "store/claims.h"
#include "store/postgres.h"

namespace mneme::store {

// In the table mneme_claims, made if it is missing, under the lab's own name: one database serves many labs. Leases run
// by the server's clock, so the machines' clocks need not agree.
std::unique_ptr<Claims> open_postgres_claims(PostgresConnection connection, std::string lab, ClaimOptions options);

}  // namespace mneme::store
