#include "report/pages/kept_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/directory_lock.h"
#include "report/pages/study_rows.h"
#include "report/stats/result_file.h"
#include "store/run_record.h"

namespace mneme::report {
Path kept_file(const Path& directory, const std::string& item, const std::string& scale) {
  return directory / fmt::format("{}.{}.jsonl", item, scale);
}

void keep_results(const Path& file, std::span<const ResultRow> rows) {
  const Path directory = file.has_parent_path() ? file.parent_path() : Path(".");
  file_system().create_directories(directory);
  const DirectoryLock lock(directory);
  const std::string kept = std::filesystem::exists(file) ? read_file(file) : "";
  const std::string merged = merge_results(kept, file.string(), rows);
  if (merged != kept) write_file_atomically(file, merged);
}

std::vector<ResultRow> kept_anywhere(const Path& directory, std::span<const config::RunConfig> runs) {
  std::vector<Path> files;
  if (std::filesystem::is_directory(directory))
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ResultRow> rows;
  std::set<std::string> found;
  for (const Path& file : files)
    for (ResultRow& row : read_results(read_file(file), file.string(), runs).rows)
      if (found.insert(row.run).second) rows.push_back(std::move(row));
  return rows;
}

ResultRow row_in(const store::RunDirectory& directory, const config::RunConfig& run) {
  const store::RunRecord record = store::read_record(directory);
  ResultRow row = row_of(record);
  add_metrics(row, record.metrics);
  add_run_facts(row, run);
  return row;
}

}  // namespace mneme::report
