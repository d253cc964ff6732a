#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace mneme::store {
namespace {

// About a minute in all.
constexpr int kMostWaits = 25000;

// SQLite's own handler waits ever longer, so that under many writers the unlucky ones never get their turn; short waits
// of different lengths are fair.
int wait_for_turn(void*, int waits) {
  if (waits >= kMostWaits) return 0;
  const unsigned mixed = (static_cast<unsigned>(::getpid()) * 2654435761U + static_cast<unsigned>(waits) * 40503U) >> 8;
  std::this_thread::sleep_for(std::chrono::microseconds(500 + mixed % 4000));
  return 1;
}

}  // namespace

bool move_database_away(const Path& file) {
  Path journal = file, aside = file;
  journal += "-journal";
  aside += ".damaged";
  std::error_code code;
  // A journal that outlives its database would be rolled back into the new one, so it goes first.
  std::filesystem::remove(journal, code);
  if (!code) std::filesystem::rename(file, aside, code);
  return !code;
}

bool SqliteError::full() const { return (code_ & 0xff) == SQLITE_FULL; }

bool SqliteError::damaged() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

void Database::Closer::operator()(sqlite3* handle) const { sqlite3_close(handle); }

void Database::open(int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name_.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, wait_for_turn, nullptr);
}

Database::Database(const Path& file) : name_(file.string()) {
  open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  execute("PRAGMA journal_mode = DELETE");
  execute("PRAGMA synchronous = FULL");
  // A large transaction that does not fit is written and synced page by page: 64 MiB instead of two.
  execute("PRAGMA cache_size = -65536");
}

Database Database::copy_of(const Path& file) {
  Database source, copy = in_memory();
  source.name_ = file.string();
  source.open(SQLITE_OPEN_READONLY);
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", source.handle(), "main");
  if (backup == nullptr) copy.fail(sqlite3_errcode(copy.handle()));
  // A backup asks no busy handler.
  int code = SQLITE_BUSY;
  for (int waits = 0; (code == SQLITE_BUSY || code == SQLITE_LOCKED) && wait_for_turn(nullptr, waits); ++waits)
    code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) source.fail(code);
  return copy;
}

void Database::fail(int code) const {
  throw SqliteError(code, name_, handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
}

void Database::execute(const std::string& sql) {
  if (const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK)
    fail(code);
}

void Statement::Finalizer::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  expect(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr));
  handle_.reset(handle);
}

void Statement::expect(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

Statement& Statement::bind(std::int64_t value) {
  expect(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  expect(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  expect(sqlite3_bind_text(handle_.get(), ++bound_, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(const std::optional<double>& value) {
  if (value) return bind(*value);
  expect(sqlite3_bind_null(handle_.get(), ++bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(handle_.get());
  bound_ = 0;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))) : "";
}

std::optional<double> Statement::optional_real(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return real(column);
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace mneme::store
