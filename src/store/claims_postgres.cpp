#include "store/claims_postgres.h"

#include <fmt/format.h>

#include <charconv>

namespace mneme::store {
namespace {

constexpr const char* kTableExists = "SELECT to_regclass('mneme_claims') IS NOT NULL";
// Two that make a table at once would fail on the system's own catalogue, IF NOT EXISTS or not: the lock is let go when
// the statement, a transaction of its own, is over.
constexpr const char* kSchema = R"(
DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('mneme_claims'));
  CREATE TABLE IF NOT EXISTS mneme_claims (
    lab text NOT NULL, run text NOT NULL, attempt bigint NOT NULL, holder text NOT NULL, ticket text NOT NULL,
    expires timestamptz NOT NULL, PRIMARY KEY (lab, run));
END $$
)";
// The row is written only if the lease of the present holder is over ($7: or in any case); RETURNING says that it was.
// A ticket is of one call: if the answer was lost and the statement is repeated, the same number comes again.
constexpr const char* kTake = R"(
INSERT INTO mneme_claims AS c (lab, run, attempt, holder, ticket, expires)
VALUES ($1, $2, $3::bigint + 1, $4, $5, clock_timestamp() + make_interval(secs => $6::float8))
ON CONFLICT (lab, run) DO UPDATE SET
  attempt = CASE WHEN c.ticket = $5 THEN c.attempt ELSE greatest(c.attempt, $3::bigint) + 1 END,
  holder = $4, ticket = $5, expires = excluded.expires
WHERE c.expires <= clock_timestamp() OR c.ticket = $5 OR $7::boolean
RETURNING attempt
)";
constexpr const char* kRenew = R"(
UPDATE mneme_claims SET expires = clock_timestamp() + make_interval(secs => $5::float8)
WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4 RETURNING attempt
)";
constexpr const char* kFree = R"(
UPDATE mneme_claims SET expires = '-infinity' WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4
)";
constexpr const char* kHeld = R"(
SELECT run, attempt, holder, extract(epoch FROM expires)::float8 FROM mneme_claims
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

class PostgresClaims : public Claims {
 public:
  PostgresClaims(PostgresConnection connection, std::string lab, ClaimOptions options)
      : Claims(std::move(options)), connection_(std::move(connection)), lab_(std::move(lab)) {
    // Asked first, so that who may not make tables can use one that is there.
    if (connection_.execute(kTableExists).at(0).at(0) != "t") connection_.execute(kSchema);
  }

  bool renew(std::string_view run, std::int64_t attempt) override {
    return !connection_
                .execute(kRenew, {lab_, std::string(run), fmt::to_string(attempt), options_.holder,
                                  fmt::to_string(options_.lease)})
                .empty();
  }

 private:
  std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) override {
    const auto rows = connection_.execute(
        kTake, {lab_, std::string(run), fmt::to_string(floor), options_.holder, fmt::format("{}/{}", name_, ++tickets_),
                fmt::to_string(options_.lease), from == From::anybody ? "true" : "false"});
    if (rows.empty()) return std::nullopt;
    return integer(rows[0][0]);
  }

  void free(const ClaimRow& claim) override {
    connection_.execute(kFree, {lab_, claim.run, fmt::to_string(claim.attempt), claim.holder});
  }

  std::vector<ClaimRow> held(std::optional<std::string_view> run) override {
    std::vector<std::string> values{lab_};
    if (run) values.emplace_back(*run);
    const auto rows =
        connection_.execute(fmt::format("{} {}", kHeld, run ? "AND run = $2" : "ORDER BY run COLLATE \"C\""), values);
    std::vector<ClaimRow> claims;
    for (const PostgresRow& row : rows) claims.push_back({row[0], integer(row[1]), row[2], real(row[3])});
    return claims;
  }

  PostgresConnection connection_;
  std::string lab_;
  std::string name_ = unique_name();
  std::int64_t tickets_ = 0;
};

}  // namespace

std::unique_ptr<Claims> open_postgres_claims(PostgresConnection connection, std::string lab, ClaimOptions options) {
  return std::make_unique<PostgresClaims>(std::move(connection), std::move(lab), std::move(options));
}

}  // namespace mneme::store
