#include "store/index.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 3;
constexpr const char* kIndexSchema = R"(
CREATE TABLE runs (
  id TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, task TEXT NOT NULL, mixer TEXT NOT NULL,
  width INTEGER NOT NULL, layers INTEGER NOT NULL, lr REAL NOT NULL, seed INTEGER NOT NULL,
  validation_accuracy REAL, test_accuracy REAL, steps INTEGER NOT NULL, seconds REAL NOT NULL,
  changed INTEGER NOT NULL, config TEXT NOT NULL, summary TEXT NOT NULL, tags TEXT NOT NULL, note TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metrics (
  run TEXT NOT NULL, step INTEGER NOT NULL, split TEXT NOT NULL, seconds REAL NOT NULL, "values" TEXT NOT NULL,
  PRIMARY KEY (run, step, split)
) WITHOUT ROWID;
)";
constexpr const char* kColumns =
    "id, state, reason, task, mixer, width, layers, lr, seed, validation_accuracy, test_accuracy, steps, seconds, "
    "changed, config, summary, tags, note";

std::int64_t pragma(Database& database, const char* sql) {
  Statement statement(database, sql);
  statement.step();
  return statement.integer(0);
}

// True if the tables had to be made.
bool ensure_schema(Database& database) {
  if (pragma(database, "PRAGMA user_version") == kSchemaVersion) return false;
  Transaction transaction(database);
  // Another process may have made them while we waited for the lock.
  if (pragma(database, "PRAGMA user_version") == kSchemaVersion) return false;
  for (const char* table : {"runs", "metrics"}) database.execute(fmt::format("DROP TABLE IF EXISTS {}", table));
  database.execute(kIndexSchema);
  database.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  transaction.commit();
  return true;
}

RunState state_in(const Statement& row, int column) {
  try {
    return parse_run_state(row.text(column));
  } catch (const Error& error) {
    throw SqliteError(SQLITE_CORRUPT, "index.db", error.what());
  }
}

// ",good,baseline,": each tag between commas, so that one can be looked for; "" if there is none.
std::string tags_text(const std::vector<std::string>& tags) {
  return tags.empty() ? "" : fmt::format(",{},", join(tags, ","));
}

std::vector<std::string> tags_in(const std::string& text) {
  return text.size() < 2 ? std::vector<std::string>{} : split(std::string_view(text).substr(1, text.size() - 2), ',');
}

RunRecord record_of(const Statement& row) {
  RunRecord record;
  record.id = row.text(0);
  record.state = state_in(row, 1);
  record.reason = row.text(2);
  record.task = row.text(3);
  record.mixer = row.text(4);
  record.width = row.integer(5);
  record.layers = row.integer(6);
  record.lr = row.real(7);
  record.seed = row.integer(8);
  record.validation_accuracy = row.optional_real(9);
  record.test_accuracy = row.optional_real(10);
  record.steps = row.integer(11);
  record.seconds = row.real(12);
  record.changed = row.integer(13);
  record.config = row.text(14);
  record.summary = row.text(15);
  record.notes = {tags_in(row.text(16)), row.text(17)};
  return record;
}

// Directories of runs; one that holds no file of a run yet (a crash right after mkdir) is passed over.
std::vector<RunDirectory> directories(const Lab& lab) {
  std::vector<RunDirectory> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(lab.runs(), none)) {
    if (!entry.is_directory(none)) continue;
    const RunDirectory directory(entry.path());
    if (last_change(directory) != 0) found.push_back(directory);
  }
  return found;
}

struct Known {
  RunState state;
  std::int64_t changed;
};

std::map<std::string, Known> known_runs(Database& database) {
  std::map<std::string, Known> known;
  for (Statement row(database, "SELECT id, state, changed FROM runs"); row.step();)
    known[row.text(0)] = {state_in(row, 1), row.integer(2)};
  return known;
}

}  // namespace

Index Index::open(const Lab& lab) {
  Index index(lab);
  index.connect();
  return index;
}

Index Index::read_only(const Lab& lab) {
  Index index(lab);
  index.read_only_ = true;
  if (fs::exists(lab.index())) {
    try {
      index.database_ = Database::copy_of(lab.index());
      if (pragma(index.database_, "PRAGMA user_version") == kSchemaVersion) {
        known_runs(index.database_);  // a file that is damaged shows it here
        return index;
      }
    } catch (const SqliteError& error) {
      index.notices_.push_back(
          fmt::format("cannot read the index ({}); reading the run directories instead", error.what()));
    }
  }
  index.database_ = Database::in_memory();
  ensure_schema(index.database_);
  return index;
}

void Index::connect_in_memory() {
  database_ = Database::in_memory();
  ensure_schema(database_);
  refresh();
}

void Index::connect() {
  std::string notice;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      database_ = Database(lab_.index());
      const bool fresh = ensure_schema(database_);
      refresh();
      if (notice.empty() && fresh && count() > 0)
        notice = fmt::format("built the index {} from the run directories", lab_.index().string());
      if (!notice.empty()) notices_.push_back(notice);
      return;
    } catch (const SqliteError& error) {
      notice = fmt::format("cannot use the index ({}); reading the run directories instead", error.what());
      if (!error.damaged() || !move_database_away(lab_.index())) break;
      notice = fmt::format("the index was damaged ({}); rebuilt it from the run directories", error.what());
    }
  }
  connect_in_memory();
  notices_.push_back(notice);
}

template <typename Action>
auto Index::repairing(Action action) {
  try {
    return action();
  } catch (const SqliteError& error) {
    if (!error.damaged()) throw;
  }
  if (read_only_) {
    connect_in_memory();
    notices_.push_back("the index is damaged; read the run directories instead");
    return action();
  }
  move_database_away(lab_.index());
  connect();
  notices_.push_back("the index was damaged; rebuilt it from the run directories");
  return action();
}

void Index::update(const RunDirectory& directory) {
  const RunRecord record = read_record(directory);
  repairing([&] {
    Transaction transaction(database_);
    upsert(record);
    transaction.commit();
  });
}

void Index::upsert(const RunRecord& record) {
  Statement statement(
      database_,
      fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", kColumns));
  statement.bind(std::string_view(record.id)).bind(run_state_name(record.state)).bind(std::string_view(record.reason));
  statement.bind(std::string_view(record.task)).bind(std::string_view(record.mixer));
  statement.bind(record.width).bind(record.layers).bind(record.lr).bind(record.seed);
  statement.bind(record.validation_accuracy).bind(record.test_accuracy).bind(record.steps).bind(record.seconds);
  statement.bind(record.changed).bind(std::string_view(record.config)).bind(std::string_view(record.summary));
  const std::string tags = tags_text(record.notes.tags);
  statement.bind(std::string_view(tags)).bind(std::string_view(record.notes.note));
  statement.run();
  Statement(database_, "DELETE FROM metrics WHERE run = ?").bind(std::string_view(record.id)).run();
  Statement insert(database_,
                   "INSERT OR REPLACE INTO metrics (run, step, split, seconds, \"values\") VALUES (?,?,?,?,?)");
  for (const MetricRow& metric : record.metrics) {
    insert.bind(std::string_view(record.id)).bind(metric.step).bind(std::string_view(metric.split));
    insert.bind(metric.seconds).bind(std::string_view(metric.values)).run();
  }
}

void Index::remove(std::string_view id) {
  for (const char* sql : {"DELETE FROM runs WHERE id = ?", "DELETE FROM metrics WHERE run = ?"})
    Statement(database_, sql).bind(id).run();
}

std::vector<MetricRow> Index::metrics(std::string_view id) {
  return repairing([&] {
    Statement rows(database_,
                   "SELECT step, split, seconds, \"values\" FROM metrics WHERE run = ? ORDER BY step, split");
    rows.bind(id);
    std::vector<MetricRow> found;
    while (rows.step()) found.push_back({rows.integer(0), rows.text(1), rows.real(2), rows.text(3)});
    return found;
  });
}

void Index::read_into(const RunDirectory& directory) {
  try {
    upsert(read_record(directory));
  } catch (const SqliteError&) {
    throw;
  } catch (const Error& error) {
    damaged_.push_back(error.what());
    remove(directory.path().filename().string());
  }
}

std::vector<std::string> Index::stale() {
  std::map<std::string, Known> known = known_runs(database_);
  std::vector<std::string> stale, unknown;
  for (const RunDirectory& directory : directories(lab_)) {
    std::string id = directory.path().filename().string();
    const auto found = known.find(id);
    if (found == known.end()) {
      unknown.push_back(std::move(id));
      continue;
    }
    const auto [state, changed] = found->second;
    known.erase(found);
    if (state == RunState::done || state == RunState::diverged) continue;
    // A lock that was taken or released changes no file.
    const bool may_run = state == RunState::running || state == RunState::interrupted || state == RunState::fresh;
    if (may_run || last_change(directory) != changed) stale.push_back(std::move(id));
  }
  for (const auto& [id, gone] : known) stale.push_back(id);
  stale.insert(stale.end(), unknown.begin(), unknown.end());
  return stale;
}

void Index::refresh() {
  damaged_.clear();
  if (const std::vector<std::string> ids = stale(); !ids.empty()) read_again(ids);
}

void Index::read_again(const std::vector<std::string>& ids) {
  damaged_.clear();
  Transaction transaction(database_);
  for (const std::string& id : ids) {
    if (last_change(lab_.run(id)) != 0)
      read_into(lab_.run(id));
    else
      remove(id);
  }
  transaction.commit();
}

void Index::rebuild_runs(const std::vector<std::string>& ids) {
  repairing([&] { read_again(ids); });
}

void Index::rebuild() {
  repairing([&] {
    damaged_.clear();
    Transaction transaction(database_);
    database_.execute("DELETE FROM runs");
    database_.execute("DELETE FROM metrics");
    for (const RunDirectory& directory : directories(lab_)) read_into(directory);
    transaction.commit();
  });
}

std::map<std::string, std::int64_t> Index::tags() {
  return repairing([&] {
    std::map<std::string, std::int64_t> counts;
    for (Statement row(database_, "SELECT tags FROM runs WHERE tags != ''"); row.step();)
      for (const std::string& tag : tags_in(row.text(0))) ++counts[tag];
    return counts;
  });
}

void Index::check_tags(const std::vector<RunFilter>& filters) {
  for (const RunFilter& filter : filters) {
    if (filter.key.name != "tag") continue;
    std::vector<std::string> known;
    for (const auto& [tag, count] : tags()) known.push_back(tag);
    for (const auto& value : filter.values)
      if (const std::string& tag = std::get<std::string>(value);
          std::find(known.begin(), known.end(), tag) == known.end())
        throw Error(
            ErrorKind::usage, "filter",
            fmt::format("unknown tag '{}'{}", tag,
                        known.empty() ? "; no run has one yet: see `mneme tag --help`" : suggestion(tag, known)));
  }
}

std::vector<RunRecord> Index::query(const RunQuery& query) {
  check_tags(query.filters);
  std::string sql = fmt::format("SELECT {} FROM runs WHERE {} ORDER BY ", kColumns, sql_condition(query.filters));
  for (const auto& [key, descending] : query.order) sql += fmt::format("{}{}, ", key.column, descending ? " DESC" : "");
  sql += "id LIMIT ?";
  return repairing([&] {
    Statement statement(database_, sql);
    bind_condition(statement, query.filters);
    for (const auto& [key, descending] : query.order)
      if (!key.path.empty()) statement.bind(std::string_view(key.path));
    statement.bind(query.limit);
    std::vector<RunRecord> records;
    while (statement.step()) records.push_back(record_of(statement));
    return records;
  });
}

std::int64_t Index::count(const std::vector<RunFilter>& filters) {
  check_tags(filters);
  Statement statement(database_, fmt::format("SELECT count(*) FROM runs WHERE {}", sql_condition(filters)));
  bind_condition(statement, filters);
  statement.step();
  return statement.integer(0);
}

std::unordered_map<std::string, std::pair<RunState, std::int64_t>> Index::states() {
  return repairing([&] {
    std::unordered_map<std::string, std::pair<RunState, std::int64_t>> states;
    for (Statement row(database_, "SELECT id, state, steps FROM runs"); row.step();)
      states[row.text(0)] = {state_in(row, 1), row.integer(2)};
    return states;
  });
}

std::optional<RunRecord> Index::find(std::string_view id) {
  return repairing([&]() -> std::optional<RunRecord> {
    Statement statement(database_, fmt::format("SELECT {} FROM runs WHERE id = ?", kColumns));
    statement.bind(id);
    if (!statement.step()) return std::nullopt;
    return record_of(statement);
  });
}

std::vector<std::string> Index::ids_with_prefix(std::string_view prefix, std::int64_t limit) {
  Statement statement(database_, "SELECT id FROM runs WHERE substr(id, 1, length(?)) = ? ORDER BY id LIMIT ?");
  statement.bind(prefix).bind(prefix).bind(limit);
  std::vector<std::string> ids;
  while (statement.step()) ids.push_back(statement.text(0));
  return ids;
}

}  // namespace mneme::store
