// Leases in a SQLite file: for the commands of one machine.
#pragma once

#include "store/leases.h"

namespace mneme::store {

// Created if it is missing, and recreated if it is damaged: the run directories remember the numbers.
std::unique_ptr<Leases> open_sqlite_leases(const Path& file, LeaseOptions options);

}  // namespace mneme::store
