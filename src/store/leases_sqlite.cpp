#include "store/leases_sqlite.h"

#include <fmt/format.h>

#include <chrono>

#include "store/sqlite.h"

namespace mneme::store {
namespace {

// {0} is the table.
constexpr const char* kLeaseSchema = R"(
CREATE TABLE IF NOT EXISTS {0} (
  run TEXT PRIMARY KEY, attempt INTEGER NOT NULL, holder TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
)";
// The row is written only if the present lease has expired; RETURNING says whether it was written.
constexpr const char* kTakeLease = R"(
INSERT INTO {0} (run, attempt, holder, expires) VALUES (?1, ?2 + 1, ?3, ?4)
ON CONFLICT (run) DO UPDATE SET attempt = max(attempt, ?2) + 1, holder = ?3, expires = ?4
WHERE expires <= ?5 RETURNING attempt
)";
constexpr const char* kHeldLeases = "SELECT run, attempt, holder, expires FROM {0} WHERE expires > ?";
constexpr double kAlways = 1e18;

double machine_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class SqliteLeases : public Leases {
 public:
  SqliteLeases(const Path& file, LeaseOptions options)
      : Leases(std::move(options)),
        table_(file.filename() == Lab::kOldLeases ? "claims" : "leases"),
        database_(open(file, sql(kLeaseSchema))) {
    if (!options_.now) options_.now = machine_clock;
  }

  bool renew(std::string_view run, std::int64_t attempt) override {
    Transaction transaction(database_);
    Statement statement(
        database_, sql("UPDATE {0} SET expires = ? WHERE run = ? AND attempt = ? AND holder = ? RETURNING attempt"));
    statement.bind(options_.now() + options_.seconds).bind(run).bind(attempt).bind(std::string_view(options_.holder));
    const bool ours = first_row(statement).has_value();
    transaction.commit();
    return ours;
  }

 private:
  std::string sql(std::string_view text) const { return fmt::format(fmt::runtime(text), table_); }

  static Database open(const Path& file, const std::string& schema) {
    for (bool again = false;; again = true) {
      try {
        Database database(file);
        // No syncs: a power loss ends every holder too, and the file is then checked against the run directories.
        database.execute("PRAGMA synchronous = OFF");
        database.execute(schema);
        return database;
      } catch (const SqliteError& error) {
        if (!error.damaged() || again || !move_database_away(file)) throw;
      }
    }
  }

  // A RETURNING statement has written only when it has been stepped to its end.
  static std::optional<std::int64_t> first_row(Statement& statement) {
    if (!statement.step()) return std::nullopt;
    const std::int64_t value = statement.integer(0);
    statement.run();
    return value;
  }

  std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) override {
    // Immediate: a transaction that starts by reading may be refused without waiting for its turn.
    Transaction transaction(database_);
    Statement statement(database_, sql(kTakeLease));
    const double now = options_.now();
    statement.bind(run).bind(floor).bind(std::string_view(options_.holder));
    statement.bind(now + options_.seconds).bind(from == From::anybody ? kAlways : now);
    const auto attempt = first_row(statement);
    transaction.commit();
    return attempt;
  }

  void free(const Lease& lease) override {
    Transaction transaction(database_);
    Statement(database_, sql("UPDATE {0} SET expires = 0 WHERE run = ? AND attempt = ? AND holder = ?"))
        .bind(std::string_view(lease.run))
        .bind(lease.attempt)
        .bind(std::string_view(lease.holder))
        .run();
    transaction.commit();
  }

  std::vector<Lease> held(std::optional<std::string_view> run) override {
    Statement rows(database_, fmt::format("{} {}", sql(kHeldLeases), run ? "AND run = ?" : "ORDER BY run"));
    rows.bind(options_.now());
    if (run) rows.bind(*run);
    std::vector<Lease> leases;
    while (rows.step()) leases.push_back({rows.text(0), rows.integer(1), rows.text(2), rows.real(3)});
    return leases;
  }

  const char* table_;
  Database database_;
};

}  // namespace

std::unique_ptr<Leases> open_sqlite_leases(const Path& file, LeaseOptions options) {
  return std::make_unique<SqliteLeases>(file, std::move(options));
}

}  // namespace mneme::store
