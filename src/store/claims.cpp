#include "store/claims.h"

#include <chrono>

namespace mneme {
namespace {

constexpr const char* kSchema = R"(
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
constexpr double kAlways = 1e18;

double machine_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class SqliteClaims : public Claims {
 public:
  SqliteClaims(const Path& file, ClaimOptions options) : options_(std::move(options)), database_(open(file)) {
    if (!options_.now) options_.now = machine_clock;
  }

  std::optional<std::int64_t> claim(std::string_view run, std::int64_t floor) override {
    free_if_gone(run);
    return claim_before(run, floor, options_.now());
  }

  std::int64_t seize(std::string_view run, std::int64_t floor) override {
    return claim_before(run, floor, kAlways).value();
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

  void release(std::string_view run, std::int64_t attempt) override { free(run, attempt, options_.holder); }

  std::vector<ClaimRow> live() override {
    Statement rows(database_, "SELECT run, attempt, holder, expires FROM claims WHERE expires > ? ORDER BY run");
    rows.bind(options_.now());
    std::vector<ClaimRow> claims;
    while (rows.step()) claims.push_back({rows.text(0), rows.integer(1), rows.text(2), rows.real(3)});
    std::erase_if(claims, [](const ClaimRow& claim) { return is_gone(claim.holder); });
    return claims;
  }

 private:
  static Database open(const Path& file) {
    for (bool again = false;; again = true) {
      try {
        Database database(file);
        // No syncs: a power loss ends every holder too, and what the file then says is checked against the directories.
        database.execute("PRAGMA synchronous = OFF");
        database.execute(kSchema);
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

  std::optional<std::int64_t> claim_before(std::string_view run, std::int64_t floor, double before) {
    // Immediate: a statement that starts by reading may be turned away without waiting for its turn.
    Transaction transaction(database_);
    Statement statement(database_, kClaim);
    statement.bind(run).bind(floor).bind(std::string_view(options_.holder));
    statement.bind(options_.now() + options_.lease).bind(before);
    const auto attempt = first_row(statement);
    transaction.commit();
    return attempt;
  }

  // A process that died on this machine will not renew: nobody needs to wait for its lease.
  void free_if_gone(std::string_view run) {
    Statement row(database_, "SELECT attempt, holder FROM claims WHERE run = ? AND expires > ?");
    row.bind(run).bind(options_.now());
    if (!row.step() || !is_gone(row.text(1))) return;
    const std::int64_t attempt = row.integer(0);
    const std::string holder = row.text(1);
    row.run();
    free(run, attempt, holder);
  }

  void free(std::string_view run, std::int64_t attempt, const std::string& holder) {
    Transaction transaction(database_);
    Statement(database_, "UPDATE claims SET expires = 0 WHERE run = ? AND attempt = ? AND holder = ?")
        .bind(run)
        .bind(attempt)
        .bind(std::string_view(holder))
        .run();
    transaction.commit();
  }

  ClaimOptions options_;
  Database database_;
};

}  // namespace

std::unique_ptr<Claims> open_claims(const Path& file, ClaimOptions options) {
  return std::make_unique<SqliteClaims>(file, std::move(options));
}

}  // namespace mneme
