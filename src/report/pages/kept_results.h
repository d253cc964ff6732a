// Results kept in files of a directory: ITEM.SCALE.jsonl (report/stats/result_file.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/files.h"
#include "report/stats/rows.h"
#include "store/run_directory.h"

namespace mneme::report {

Path kept_file(const Path& directory, const std::string& item, const std::string& scale);

// Adds the results to the file, which may not exist yet. Nothing that is kept is lost: a crash leaves the old file or
// the new one, and several processes that keep results in one directory take turns (flock of the directory). Throws
// Error(io), or Error(data) if the file is not one of kept results.
void keep_results(const Path& file, std::span<const ResultRow> rows);

// The results of these runs that any file of kept results in the directory has: runs that two figures share are kept
// under one of them. No directory has no results. Throws Error(io), or Error(data) for a damaged file.
std::vector<ResultRow> kept_anywhere(const Path& directory, std::span<const config::RunConfig> runs);

// A run as its directory says, with its evaluations. Throws Error(data) if that is damaged.
ResultRow row_in(const store::RunDirectory& directory, const config::RunConfig& run);

}  // namespace mneme::report
