#include "store/leases_postgres.h"

#include <fmt/format.h>

#include <charconv>

#include "store/lease_holder.h"

namespace mneme::store {
namespace {

// {0} is the table.
constexpr const char* kTableExists = "SELECT to_regclass('{0}') IS NOT NULL";
// Two clients that create a table at once would fail on the system's own catalogue in spite of IF NOT EXISTS. The lock
// is released when the statement, a transaction of its own, ends.
constexpr const char* kSchema = R"(
DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('{0}'));
  CREATE TABLE IF NOT EXISTS {0} (
    lab text NOT NULL, run text NOT NULL, attempt bigint NOT NULL, holder text NOT NULL, ticket text NOT NULL,
    expires timestamptz NOT NULL, PRIMARY KEY (lab, run));
END $$
)";
// The row is written only if the present lease has expired ($7: or in any case); RETURNING says whether it was written.
// A ticket belongs to one call: if the answer was lost and the statement is repeated, it returns the same number.
constexpr const char* kTake = R"(
INSERT INTO {0} AS c (lab, run, attempt, holder, ticket, expires)
VALUES ($1, $2, $3::bigint + 1, $4, $5, clock_timestamp() + make_interval(secs => $6::float8))
ON CONFLICT (lab, run) DO UPDATE SET
  attempt = CASE WHEN c.ticket = $5 THEN c.attempt ELSE greatest(c.attempt, $3::bigint) + 1 END,
  holder = $4, ticket = $5, expires = excluded.expires
WHERE c.expires <= clock_timestamp() OR c.ticket = $5 OR $7::boolean
RETURNING attempt
)";
constexpr const char* kRenew = R"(
UPDATE {0} SET expires = clock_timestamp() + make_interval(secs => $5::float8)
WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4 RETURNING attempt
)";
constexpr const char* kFree = R"(
UPDATE {0} SET expires = '-infinity' WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4
)";
constexpr const char* kHeld = R"(
SELECT run, attempt, holder, extract(epoch FROM expires)::float8 FROM {0}
WHERE lab = $1 AND expires > clock_timestamp()
)";

std::int64_t integer(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double real(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class PostgresLeases : public Leases {
 public:
  PostgresLeases(PostgresConnection connection, std::string lab, LeaseOptions options, const char* table)
      : Leases(std::move(options)), connection_(std::move(connection)), lab_(std::move(lab)), table_(table) {
    // Asked first, so that a user who may not create tables can use one that is there.
    if (execute(kTableExists).at(0).at(0) != "t") execute(kSchema);
  }

  bool renew(std::string_view run, std::int64_t attempt) override {
    return !execute(kRenew, {lab_, std::string(run), fmt::to_string(attempt), options_.holder,
                             fmt::to_string(options_.seconds)})
                .empty();
  }

 private:
  std::vector<PostgresRow> execute(std::string_view sql, const std::vector<std::string>& values = {}) {
    return connection_.execute(fmt::format(fmt::runtime(sql), table_), values);
  }

  std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) override {
    const auto rows = execute(
        kTake, {lab_, std::string(run), fmt::to_string(floor), options_.holder, fmt::format("{}/{}", name_, ++tickets_),
                fmt::to_string(options_.seconds), from == From::anybody ? "true" : "false"});
    if (rows.empty()) return std::nullopt;
    return integer(rows[0][0]);
  }

  void free(const Lease& lease) override {
    execute(kFree, {lab_, lease.run, fmt::to_string(lease.attempt), lease.holder});
  }

  std::vector<Lease> held(std::optional<std::string_view> run) override {
    std::vector<std::string> values{lab_};
    if (run) values.emplace_back(*run);
    const auto rows = execute(fmt::format("{} {}", kHeld, run ? "AND run = $2" : "ORDER BY run COLLATE \"C\""), values);
    std::vector<Lease> leases;
    for (const PostgresRow& row : rows) leases.push_back({row[0], integer(row[1]), row[2], real(row[3])});
    return leases;
  }

  PostgresConnection connection_;
  std::string lab_;
  std::string table_;
  std::string name_ = unique_name();
  std::int64_t tickets_ = 0;
};

}  // namespace

std::unique_ptr<Leases> open_postgres_leases(PostgresConnection connection, std::string lab, LeaseOptions options,
                                             const char* table) {
  return std::make_unique<PostgresLeases>(std::move(connection), std::move(lab), std::move(options), table);
}

}  // namespace mneme::store
