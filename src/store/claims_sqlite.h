// Claims in a SQLite file: for the commands of one machine.
#pragma once

#include "store/claims.h"

namespace mneme::store {

// Made if it is missing and made again if it is damaged: the directories remember the numbers.
std::unique_ptr<Claims> open_sqlite_claims(const Path& file, ClaimOptions options);

}  // namespace mneme::store
