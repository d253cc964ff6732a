#include "store/claims_sqlite.h"

#include <fmt/format.h>

#include <chrono>

#include "store/sqlite.h"

namespace mneme::store {
namespace {

constexpr const char* kLeaseSchema = R"(
CREATE TABLE IF NOT EXISTS claims (
  run TEXT PRIMARY KEY, attempt INTEGER NOT NULL, holder TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
)";
// The row is written only if the lease of the present holder is over; RETURNING says that it was.
constexpr const char* kClaim = R"(
INSERT INTO claims (run, attempt, holder, expires) VALUES (?1, ?2 + 1, ?3, ?4)
ON CONFLICT (run) DO UPDATE SET attempt = max(attempt, ?2) + 1, holder = ?3, expires = ?4
WHERE expires <= ?5 RETURNING attempt
)";
constexpr const char* kHeldLeases = "SELECT run, attempt, holder, expires FROM claims WHERE expires > ?";
constexpr double kAlways = 1e18;

double machine_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class SqliteClaims : public Claims {
 public:
  SqliteClaims(const Path& file, ClaimOptions options) : Claims(std::move(options)), database_(open(file)) {
    if (!options_.now) options_.now = machine_clock;
  }

  bool renew(std::string_view run, std::int64_t attempt) override {
    Transaction transaction(database_);
    Statement statement(database_,
                        "UPDATE claims SET expires = ? WHERE run = ? AND attempt = ? AND holder = ? RETURNING attempt");
    statement.bind(options_.now() + options_.lease).bind(run).bind(attempt).bind(std::string_view(options_.holder));
    const bool ours = first_row(statement).has_value();
    transaction.commit();
    return ours;
  }

 private:
  static Database open(const Path& file) {
    for (bool again = false;; again = true) {
      try {
        Database database(file);
        // No syncs: a power loss ends every holder too, and what the file then says is checked against the directories.
        database.execute("PRAGMA synchronous = OFF");
        database.execute(kLeaseSchema);
        return database;
      } catch (const SqliteError& error) {
        if (!error.damaged() || again || !move_database_away(file)) throw;
      }
    }
  }

  // A RETURNING statement has written only once it was stepped to its end.
  static std::optional<std::int64_t> first_row(Statement& statement) {
    if (!statement.step()) return std::nullopt;
    const std::int64_t value = statement.integer(0);
    statement.run();
    return value;
  }

  std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) override {
    // Immediate: a statement that starts by reading may be turned away without waiting for its turn.
    Transaction transaction(database_);
    Statement statement(database_, kClaim);
    const double now = options_.now();
    statement.bind(run).bind(floor).bind(std::string_view(options_.holder));
    statement.bind(now + options_.lease).bind(from == From::anybody ? kAlways : now);
    const auto attempt = first_row(statement);
    transaction.commit();
    return attempt;
  }

  void free(const ClaimRow& claim) override {
    Transaction transaction(database_);
    Statement(database_, "UPDATE claims SET expires = 0 WHERE run = ? AND attempt = ? AND holder = ?")
        .bind(std::string_view(claim.run))
        .bind(claim.attempt)
        .bind(std::string_view(claim.holder))
        .run();
    transaction.commit();
  }

  std::vector<ClaimRow> held(std::optional<std::string_view> run) override {
    Statement rows(database_, fmt::format("{} {}", kHeldLeases, run ? "AND run = ?" : "ORDER BY run"));
    rows.bind(options_.now());
    if (run) rows.bind(*run);
    std::vector<ClaimRow> claims;
    while (rows.step()) claims.push_back({rows.text(0), rows.integer(1), rows.text(2), rows.real(3)});
    return claims;
  }

  Database database_;
};

}  // namespace

std::unique_ptr<Claims> open_sqlite_claims(const Path& file, ClaimOptions options) {
  return std::make_unique<SqliteClaims>(file, std::move(options));
}

}  // namespace mneme::store
