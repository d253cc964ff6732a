// PostgreSQL as Mneme uses it: one connection that reconnects when it is lost. Values reach a statement only as
// bound parameters, and a password reaches nothing but the server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database_error.h"

struct pg_conn;

namespace mneme::store {

class PostgresError : public DatabaseError {
 public:
  // `state`: the server's five letters; "" if it was the connection.
  PostgresError(std::string_view state, std::string_view where, std::string_view what)
      : DatabaseError(where, what), state_(state) {}
  bool full() const override;
  bool away() const override;
  // The statement was undone for the sake of another one: it may be repeated at once.
  bool met_another() const;

 private:
  std::string state_;
};

using PostgresRow = std::vector<std::string>;

class PostgresConnection {
 public:
  // `address` is postgresql://[USER[:PASSWORD]@][HOST[:PORT]]/DATABASE[?OPTION=VALUE&...]. Throws Error(usage) if it is
  // not, and PostgresError if there is no answer within ten seconds; neither repeats the address.
  explicit PostgresConnection(std::string address);

  // Carries out one statement in a transaction of its own and returns its rows. If the connection is lost, also while
  // waiting for the answer, it is made again for some seconds, and the statement is repeated: it must be one that
  // may be. If that fails, later calls try once each, until one succeeds. Values must be UTF-8 without NUL:
  // anything else throws Error(usage).
  std::vector<PostgresRow> execute(const std::string& sql, const std::vector<std::string>& values = {});

  // Carries out `action` inside the transaction of a statement that locks rows; false, and no action, if it has none.
  bool with_rows(const std::string& sql, const std::vector<std::string>& values, const std::function<void()>& action);

  // "postgresql://HOST/DATABASE", for messages.
  const std::string& name() const { return name_; }

 private:
  struct Closer {
    void operator()(pg_conn* handle) const;
  };
  void connect();
  void connect_again();
  // Nothing if the connection is lost.
  std::optional<std::vector<PostgresRow>> try_execute(const std::string& sql, const std::vector<std::string>& values);
  [[noreturn]] void fail_to_connect() const;

  std::string address_, name_;
  std::unique_ptr<pg_conn, Closer> handle_;
  bool connected_ = false, away_ = false;
};

}  // namespace mneme::store
