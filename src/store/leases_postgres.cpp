#include "store/leases_postgres.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "core/text.h"
#include "store/lease_holder.h"

namespace mneme::store {
namespace {

// {0} is the table, {1} the condition that a lease is free.
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
// In this one {1} is how long a lease lasts.
// A lease that was given back has '-infinity'. One that was last renewed before the server started ran out while its
// holder could not reach the server: the holder has {2} seconds from the start to renew it before others may take it.
constexpr const char* kFreeLease = R"((c.expires <= clock_timestamp() AND (c.expires = '-infinity'
  OR c.expires - make_interval(secs => {1}::float8) >= pg_postmaster_start_time()
  OR pg_postmaster_start_time() + make_interval(secs => {2}::float8) <= clock_timestamp())))";
// The row is written only if the present lease is free ($7: or in any case); RETURNING says whether it was written.
// A ticket belongs to one call: if the answer was lost and the statement is repeated, it returns the same number.
constexpr const char* kTake = R"(
INSERT INTO {0} AS c (lab, run, attempt, holder, ticket, expires)
VALUES ($1, $2, $3::bigint + 1, $4, $5, clock_timestamp() + make_interval(secs => $6::float8))
ON CONFLICT (lab, run) DO UPDATE SET
  attempt = CASE WHEN c.ticket = $5 THEN c.attempt ELSE greatest(c.attempt, $3::bigint) + 1 END,
  holder = $4, ticket = $5, expires = excluded.expires
WHERE {1} OR c.ticket = $5 OR $7::boolean
RETURNING attempt
)";
// $1 lab, $2 runs, $3 holder, $4 ticket, $5 seconds, $6 how many free ones to pass over, $7 how many to take. Many that
// ask at once would all choose the first free runs, and all but one in vain; so whoever met another passes over some.
// Rows are locked in the order of their names, so that two that meet wait for each other in one direction only. A
// repeated request finds its own ticket.
constexpr const char* kTakeFirst = R"(
WITH wish AS (SELECT w.run, w.place FROM unnest($2::text[]) WITH ORDINALITY AS w(run, place)),
known AS (
  SELECT w.run, w.place, c.run IS NULL OR {1} AS free, coalesce(c.ticket = $4, false) AS ours
  FROM wish w LEFT JOIN {0} c ON c.lab = $1 AND c.run = w.run),
chosen AS (
  SELECT run FROM known WHERE free OR ours ORDER BY ours DESC, place
  OFFSET CASE WHEN (SELECT bool_or(ours) FROM known) THEN 0 ELSE $6::bigint END LIMIT $7::bigint),
taken AS (
  INSERT INTO {0} AS c (lab, run, attempt, holder, ticket, expires)
  SELECT $1, run, 1, $3, $4, clock_timestamp() + make_interval(secs => $5::float8) FROM chosen ORDER BY run
  ON CONFLICT (lab, run) DO UPDATE SET
    attempt = CASE WHEN c.ticket = $4 THEN c.attempt ELSE c.attempt + 1 END,
    holder = $3, ticket = $4, expires = excluded.expires
  WHERE {1} OR c.ticket = $4
  RETURNING run, attempt)
SELECT (SELECT string_agg(t.run || '=' || t.attempt, ',' ORDER BY w.place) FROM taken t JOIN wish w USING (run)),
       (SELECT count(*) FROM known WHERE free OR ours),
       (SELECT string_agg(run, ',') FROM known WHERE NOT free AND NOT ours)
)";
constexpr const char* kRenew = R"(
UPDATE {0} SET expires = clock_timestamp() + make_interval(secs => $5::float8)
WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4 RETURNING attempt
)";
constexpr const char* kRenewAll = R"(
UPDATE {0} AS c SET expires = clock_timestamp() + make_interval(secs => $5::float8)
FROM unnest($2::text[], $3::bigint[]) AS ours(run, attempt)
WHERE c.lab = $1 AND c.run = ours.run AND c.attempt = ours.attempt AND c.holder = $4 RETURNING c.run
)";
constexpr const char* kLock = R"(
SELECT attempt FROM {0} WHERE lab = $1 AND run = $2 AND attempt = $3::bigint AND holder = $4 FOR UPDATE
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

// An array for the server. What is in it has no character that would need quotes, or is refused.
template <typename Values>
std::string array_of(const Values& values) {
  std::string text = "{";
  for (const auto& value : values) {
    const std::string item = fmt::format("{}", value);
    if (item.empty() || item.find_first_of("{},\"\\ \t\n") != item.npos)
      throw Error(ErrorKind::usage, "lease", fmt::format("got the run '{}', expected an id", item));
    text += (text.size() > 1 ? "," : "") + item;
  }
  return text + "}";
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

  std::vector<std::string> renew_all(const std::vector<Lease>& leases) override {
    std::vector<std::string> runs;
    std::vector<std::int64_t> attempts;
    for (const Lease& lease : leases) {
      runs.push_back(lease.run);
      attempts.push_back(lease.attempt);
    }
    const auto rows = execute(
        kRenewAll, {lab_, array_of(runs), array_of(attempts), options_.holder, fmt::to_string(options_.seconds)});
    std::vector<std::string> ours;
    for (const PostgresRow& row : rows) ours.push_back(row[0]);
    return ours;
  }

  // Others who want the row wait for the end of the transaction.
  bool while_held(std::string_view run, std::int64_t attempt, const std::function<void()>& action) override {
    return connection_.with_rows(fmt::format(fmt::runtime(kLock), table_),
                                 {lab_, std::string(run), fmt::to_string(attempt), options_.holder}, action);
  }

  bool asks_at_once() const override { return true; }

  First acquire_first(const std::vector<std::string>& runs, std::size_t count) override {
    First first;
    std::uint64_t spread = 1;  // in parts of `count` runs
    constexpr int kTries = 12;
    for (int attempt = 0; attempt < kTries && !runs.empty() && count > 0; ++attempt) {
      const PostgresRow row =
          execute(kTakeFirst,
                  {lab_, array_of(runs), options_.holder, fmt::format("{}/{}", name_, ++tickets_),
                   fmt::to_string(options_.seconds), fmt::to_string(random_() % spread * count), fmt::to_string(count)})
              .at(0);
      first.held = row[2].empty() ? std::vector<std::string>() : split(row[2], ',');
      for (const std::string& taken : row[0].empty() ? std::vector<std::string>() : split(row[0], ',')) {
        const std::size_t sign = taken.rfind('=');
        first.leases.push_back({taken.substr(0, sign), integer(taken.substr(sign + 1)), options_.holder, 0});
      }
      const auto free = static_cast<std::uint64_t>(integer(row[1]));
      if (!first.leases.empty() || free == 0) return first;
      spread = std::min((free + count - 1) / count, spread * 4);
    }
    return first;
  }

 private:
  std::vector<PostgresRow> execute(std::string_view sql, const std::vector<std::string>& values = {}) {
    const std::string free =
        fmt::format(fmt::runtime(kFreeLease), "", options_.seconds, options_.grace.value_or(options_.seconds));
    return connection_.execute(fmt::format(fmt::runtime(sql), table_, free), values);
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
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace

const char* lease_table(const Lab& lab) {
  return lab.leases_id().filename() == Lab::kOldLeasesId ? kOldLeaseTable : kLeaseTable;
}

LeaseTable examine_lease_table(PostgresConnection& connection, const char* table) {
  const auto yes = [&](const std::string& question) {
    return connection.execute("SELECT " + question).at(0).at(0) == "t";
  };
  if (!yes(fmt::format("to_regclass('{}') IS NOT NULL", table)))
    return {false, yes("has_schema_privilege(current_schema(), 'CREATE')")
                       ? ""
                       : fmt::format("the table {} does not exist, and this user may not create it", table)};
  // One by one: of a list, the server says whether any is held.
  std::vector<std::string> lacking;
  for (const char* right : {"SELECT", "INSERT", "UPDATE"})
    if (!yes(fmt::format("has_table_privilege('{}', '{}')", table, right))) lacking.emplace_back(right);
  return {true, lacking.empty()
                    ? ""
                    : fmt::format("this user may not write the table {}: it lacks {}", table, join(lacking, ", "))};
}

std::unique_ptr<Leases> open_postgres_leases(PostgresConnection connection, std::string lab, LeaseOptions options,
                                             const char* table) {
  return std::make_unique<PostgresLeases>(std::move(connection), std::move(lab), std::move(options), table);
}

}  // namespace mneme::store
