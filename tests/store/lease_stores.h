// The places that leases can be in, each with a way to let time pass and with the fault that the contest must find.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/leases_postgres.h"
#include "store/leases_sqlite.h"
#include "store/sqlite.h"
#include "support/postgres_server.h"
#include "support/temporary_directory.h"

namespace mneme::testing {

// Leases a run and returns the attempt; nothing if it is held.
using Acquirer = std::function<std::optional<std::int64_t>(const std::string& run)>;

class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  virtual std::unique_ptr<store::Leases> open(const std::string& holder, double lease = 60) = 0;
  virtual void pass(double seconds) = 0;
  // The planted fault: looks first and updates afterwards, as many job queues do.
  virtual Acquirer careless_acquirer() = 0;
};

class SqliteStore : public LeaseStore {
 public:
  std::unique_ptr<store::Leases> open(const std::string& holder, double lease) override {
    return store::open_sqlite_leases(file_, {.holder = holder, .seconds = lease, .now = [this] { return now_; }});
  }
  void pass(double seconds) override { now_ += seconds; }
  Acquirer careless_acquirer() override {
    return
        [database = std::make_shared<store::Database>(file_)](const std::string& run) -> std::optional<std::int64_t> {
          std::int64_t attempt = 0;
          {
            store::Statement row(*database, "SELECT attempt, expires FROM leases WHERE run = ?");
            row.bind(std::string_view(run));
            if (row.step()) {
              if (row.real(1) > 0) return std::nullopt;
              attempt = row.integer(0);
            }
          }
          store::Statement update(
              *database, "INSERT OR REPLACE INTO leases (run, attempt, holder, expires) VALUES (?, ?, 'x', 0)");
          update.bind(std::string_view(run)).bind(attempt + 1).run();
          return attempt + 1;
        };
  }

 private:
  TemporaryDirectory directory_;
  Path file_ = directory_ / "leases.db";
  double now_ = 1000;
};

class PostgresStore : public LeaseStore {
 public:
  std::unique_ptr<store::Leases> open(const std::string& holder, double lease) override {
    return store::open_postgres_leases(store::PostgresConnection(server.address()), "lab",
                                       {.holder = holder, .seconds = lease, .grace = 0});
  }
  // The server's clock is nobody's to turn; its leases are.
  void pass(double seconds) override {
    store::PostgresConnection(server.address())
        .execute("UPDATE mneme_leases SET expires = expires - make_interval(secs => $1::float8)",
                 {std::to_string(seconds)});
  }
  Acquirer careless_acquirer() override {
    return [database = std::make_shared<store::PostgresConnection>(server.address())](
               const std::string& run) -> std::optional<std::int64_t> {
      const auto rows =
          database->execute("SELECT attempt, expires > clock_timestamp() FROM mneme_leases WHERE run = $1", {run});
      if (!rows.empty() && rows[0][1] == "t") return std::nullopt;
      const std::int64_t attempt = rows.empty() ? 1 : std::stol(rows[0][0]) + 1;
      database->execute(
          "INSERT INTO mneme_leases VALUES ('lab', $1, $2::bigint, 'x', 'x', '-infinity') "
          "ON CONFLICT (lab, run) DO UPDATE SET attempt = $2::bigint, expires = '-infinity'",
          {run, std::to_string(attempt)});
      return attempt;
    };
  }

  PostgresServer server;
};

enum class StoreKind { sqlite, postgres };
inline std::string name_of(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::sqlite ? "Sqlite" : "Postgres";
}

// A test of every place.
class EveryLeaseStore : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::sqlite) {
      store = std::make_unique<SqliteStore>();
      return;
    }
    auto postgres = std::make_unique<PostgresStore>();
    MNEME_NEEDS_POSTGRES(postgres->server);
    store = std::move(postgres);
  }
  std::unique_ptr<LeaseStore> store;
};

}  // namespace mneme::testing
