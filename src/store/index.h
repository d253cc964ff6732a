// The index: a SQLite copy of what the run directories say, for fast listing and filtering.
//
// The directories are the truth. Whatever happens to index.db (missing, damaged, of another version, on a
// disk that cannot be written), it is rebuilt from them, and notices() says so; no error of the index
// loses anything or stops a run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/lab.h"
#include "store/run_filter.h"
#include "store/run_record.h"
#include "store/sqlite.h"

namespace mneme::store {

struct RunQuery {
  std::vector<RunFilter> filters;
  std::vector<std::pair<RunKey, bool>> order;  // key, descending; then by id
  std::int64_t limit = -1;                     // -1: all
};

class Index {
 public:
  // Opens the lab's index and brings it up to date with the run directories.
  static Index open(const Lab& lab);
  // In memory, for readers that leave the lab as it is: a copy of index.db, available at once whatever the size of the
  // lab. What the copy lacks is stale(), to be read in portions. Nothing in the lab is written, whatever state it is
  // in.
  static Index read_only(const Lab& lab);

  // Copies what the run's directory says now. Throws Error(data) if the directory is damaged,
  // SqliteError if the index cannot be written.
  void update(const RunDirectory& directory);

  // Runs whose directories may say something else than the index: those that it knows and that have not ended or are
  // gone, then those that it does not know.
  std::vector<std::string> stale();
  // Reads those again. One transaction.
  void refresh();
  // Reads these runs again, whatever it knew of them; those whose directory is gone are dropped. One transaction.
  void rebuild_runs(const std::vector<std::string>& ids);
  // Reads every run directory again. One transaction: readers see the old index or the new one.
  void rebuild();

  // Both throw Error(usage) if a filter names a tag that no run has.
  std::vector<RunRecord> query(const RunQuery& query = {});
  std::int64_t count(const std::vector<RunFilter>& filters = {});
  std::optional<RunRecord> find(std::string_view id);
  // Every tag and how many runs have it.
  std::map<std::string, std::int64_t> tags();
  // A run's evaluations, by step.
  std::vector<MetricRow> metrics(std::string_view id);
  // State and trained steps of every run, by id.
  std::unordered_map<std::string, std::pair<RunState, std::int64_t>> states();
  // The ids that start with `prefix`, at most `limit`.
  std::vector<std::string> ids_with_prefix(std::string_view prefix, std::int64_t limit = 10);

  // What the user should know: an index that was rebuilt, run directories that cannot be read.
  const std::vector<std::string>& notices() const { return notices_; }
  // Run directories that the last refresh(), rebuild() or rebuild_runs() could not read, with the reason.
  const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  explicit Index(Lab lab) : lab_(std::move(lab)), database_(Database::in_memory()) {}

  // Opens the file, or recreates it, or falls back to memory; then refreshes.
  void connect();
  void connect_in_memory();
  // Runs `action`; if that finds the file damaged, recreates it and runs the action once more.
  template <typename Action>
  auto repairing(Action action);

  void check_tags(const std::vector<RunFilter>& filters);
  void upsert(const RunRecord& record);
  void remove(std::string_view id);
  void read_into(const RunDirectory& directory);
  void read_again(const std::vector<std::string>& ids);

  Lab lab_;
  Database database_;
  bool read_only_ = false;
  std::vector<std::string> notices_;
  std::vector<std::string> damaged_;
};

}  // namespace mneme::store
