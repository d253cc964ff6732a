#include "store/postgres.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "core/text.h"

namespace mneme::store {
namespace {

// About six seconds: a server that is started again is back, and a sweep does not hang for long.
constexpr std::array kWaits{100, 300, 600, 1000, 2000, 2000};  // milliseconds
constexpr int kMeetings = 3;  // in a row with statements that wanted the same rows in another order

using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string trimmed(const char* message) {
  std::string text = message ? message : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// libpq's own messages quote what they cannot read, and that may be a part of the password.
[[noreturn]] void reject_address() {
  throw Error(ErrorKind::usage, "--leases or MNEME_LEASES",
              "not a valid URL (not repeated here, as it may hold a password), expected "
              "postgresql://[USER[:PASSWORD]@][HOST[:PORT]]/DATABASE[?OPTION=VALUE&...] with %40 for @, %2F for / and "
              "%3A for : in a password");
}

std::map<std::string, std::string> parse_address(const std::string& address) {
  if (!address.starts_with("postgresql://") && !address.starts_with("postgres://")) reject_address();
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfoParse(address.c_str(), nullptr),
                                                                             &PQconninfoFree);
  if (!options) reject_address();
  std::map<std::string, std::string> values;
  for (const PQconninfoOption* option = options.get(); option->keyword; ++option)
    if (option->val) values[option->keyword] = option->val;
  // A password with a bare @ or / in it is cut there, and its rest is taken for a host, a port or a database.
  for (const char* key : {"host", "dbname", "user"})
    if (values[key].find('@') != std::string::npos) reject_address();
  if (values["port"].find_first_not_of("0123456789,") != std::string::npos) reject_address();
  return values;
}

void ignore_notice(void*, const PGresult*) {}

}  // namespace

bool PostgresError::full() const { return state_ == "53100"; }

// 57P: shutting down or starting; 53300: too many connections for now.
bool PostgresError::away() const { return state_.empty() || state_.starts_with("57P") || state_ == "53300"; }

// A deadlock or another conflict, from which the server has chosen this statement to be undone.
bool PostgresError::met_another() const { return state_ == "40P01" || state_ == "40001"; }

void PostgresConnection::Closer::operator()(pg_conn* handle) const { PQfinish(handle); }

PostgresConnection::PostgresConnection(std::string address) : address_(std::move(address)) {
  auto values = parse_address(address_);
  name_ = fmt::format("postgresql://{}/{}", values["host"], values["dbname"]);
  connect();
  if (!connected_) fail_to_connect();
}

void PostgresConnection::connect() {
  // The address comes after what it may say otherwise. A network that swallows everything is noticed in half a minute.
  constexpr std::array keywords{"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                "dbname",           "client_encoding",  static_cast<const char*>(nullptr)};
  const std::array values{
      "10", "15", "5", "3", "30000", "mneme", address_.c_str(), "UTF8", static_cast<const char*>(nullptr)};
  handle_.reset(PQconnectdbParams(keywords.data(), values.data(), 1));
  connected_ = PQstatus(handle_.get()) == CONNECTION_OK;
  if (!connected_) return;
  PQsetNoticeReceiver(handle_.get(), ignore_notice, nullptr);
  // At a higher level a lease that met another one would be an error, not an answer.
  Result(PQexec(handle_.get(), "SET default_transaction_isolation = 'read committed'"), &PQclear);
}

void PostgresConnection::connect_again() {
  // Once the server was found to be away, every call asks once: the caller has other work to do than wait.
  if (away_) connect();
  for (const int wait : kWaits) {
    if (away_ || connected_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    connect();
  }
  away_ = !connected_;
  if (away_) fail_to_connect();
}

void PostgresConnection::fail_to_connect() const {
  throw PostgresError("", name_, fmt::format("cannot connect: {}", trimmed(PQerrorMessage(handle_.get()))));
}

std::vector<PostgresRow> PostgresConnection::execute(const std::string& sql, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (!is_utf8(value) || value.find('\0') != value.npos)
      throw Error(ErrorKind::usage, name_, "got bytes that are not text, expected UTF-8 without NUL");
  // Lost twice in a row is not an accident of the network.
  for (int lost = 0, met = 0; lost < 2;) {
    if (!connected_) connect_again();
    try {
      if (auto rows = try_execute(sql, values)) return std::move(*rows);
      ++lost;
    } catch (const PostgresError& error) {
      if (!error.met_another() || ++met > kMeetings) throw;
    }
  }
  fail_to_connect();
}

bool PostgresConnection::with_rows(const std::string& sql, const std::vector<std::string>& values,
                                   const std::function<void()>& action) {
  for (int lost = 0; lost < 2; ++lost) {
    if (!connected_) connect_again();
    if (!try_execute("BEGIN", {})) continue;
    const auto rows = try_execute(sql, values);
    if (!rows) continue;
    try {
      if (!rows->empty()) action();
    } catch (...) {
      try_execute("ROLLBACK", {});
      throw;
    }
    // Nothing was changed: an end that gets lost is an end.
    try_execute("COMMIT", {});
    return !rows->empty();
  }
  fail_to_connect();
}

std::optional<std::vector<PostgresRow>> PostgresConnection::try_execute(const std::string& sql,
                                                                        const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  const Result result(PQexecParams(handle_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                   pointers.data(), nullptr, nullptr, 0),
                      &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    // A server that shuts down may say so first (57P01 to 57P03); an error without a state is libpq's own: nobody is
    // there.
    if (state && PQstatus(handle_.get()) == CONNECTION_OK && !std::string_view(state).starts_with("57P"))
      throw PostgresError(state, name_, trimmed(PQresultErrorMessage(result.get())));
    connected_ = false;
    return std::nullopt;
  }
  std::vector<PostgresRow> rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (int column = 0; column < PQnfields(result.get()); ++column)
      rows[row].emplace_back(PQgetvalue(result.get(), static_cast<int>(row), column));
  return rows;
}

}  // namespace mneme::store
