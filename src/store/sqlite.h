// SQLite as Mneme uses it: connections, prepared statements and transactions that clean up after
// themselves and throw. Values reach a statement only as bound parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/files.h"
#include "store/database_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mneme::store {

class SqliteError : public DatabaseError {
 public:
  SqliteError(int code, std::string_view where, std::string_view what) : DatabaseError(where, what), code_(code) {}
  // The file is not a database or its pages contradict each other: waiting will not help.
  bool damaged() const;
  bool full() const override;

 private:
  int code_;
};

class Database {
 public:
  // Creates the file if it is missing. Rollback journal: a WAL of this SQLite can be corrupted by two
  // writers. Waits about a minute for another process's lock.
  explicit Database(const Path& file);
  static Database in_memory() { return Database(":memory:"); }
  // In memory, with what the file holds now. The file is only read, under SQLite's shared lock.
  static Database copy_of(const Path& file);

  // For statements without values, such as the schema.
  void execute(const std::string& sql);
  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail(int code) const;

 private:
  Database() = default;
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  void open(int flags);

  std::string name_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

// Moves a damaged file to NAME.damaged and removes its journal; false if the file system does not let us.
bool move_database_away(const Path& file);

class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  // Binds the next parameter.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind(const std::optional<double>& value);

  // True if there is a row to read.
  bool step();
  // Runs a statement that gives no rows, and makes it ready for new values.
  void run();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::optional<double> optional_real(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* handle) const;
  };
  void expect(int code) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
  int bound_ = 0;
};

// Rolled back unless commit() returned.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace mneme::store
