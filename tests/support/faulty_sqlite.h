// SQLite on a disk that fails when it is told to: a layer over its own file operations.
#pragma once

#include <sqlite3.h>

#include <cstring>
#include <string>

namespace mneme::testing {

// While alive, every new connection of this process goes through it. The write-side operation with the number `call`
// fails with `code` (SQLITE_IOERR_WRITE, SQLITE_FULL, ...), the others are passed on. One at a time.
class FaultySqlite {
 public:
  FaultySqlite(int code, int call) {
    state() = {code, call, 0, false};
    real_ = sqlite3_vfs_find(nullptr);
    vfs_ = *real_;
    vfs_.zName = "mneme-faulty";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = real_;
    vfs_.xOpen = open;
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* name, int sync) {
      if (const int failure = strike()) return failure;
      auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
      return real->xDelete(real, name, sync);
    };
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FaultySqlite() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
  }
  FaultySqlite(const FaultySqlite&) = delete;
  FaultySqlite& operator=(const FaultySqlite&) = delete;

  static bool struck() { return state().struck; }

 private:
  struct State {
    int code, failing, calls;
    bool struck;
  };
  struct File {
    sqlite3_file base;
    // The real file's bytes follow.
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static State& state() {
    static State instance{};
    return instance;
  }
  static int strike() {
    State& now = state();
    if (now.calls++ != now.failing) return SQLITE_OK;
    now.struck = true;
    return now.code;
  }
  static sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real(); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* const below = static_cast<sqlite3_vfs*>(vfs->pAppData);
    file->pMethods = nullptr;
    const int code = below->xOpen(below, name, real(file), flags, out);
    if (code != SQLITE_OK) return code;
    static sqlite3_io_methods methods = [] {
      sqlite3_io_methods m{};
      m.iVersion = 1;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
        return real(f)->pMethods->xRead(real(f), to, n, at);
      };
      m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
        if (const int failure = strike()) return failure;
        return real(f)->pMethods->xWrite(real(f), from, n, at);
      };
      m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
        if (const int failure = strike()) return failure;
        return real(f)->pMethods->xTruncate(real(f), size);
      };
      m.xSync = [](sqlite3_file* f, int how) {
        if (const int failure = strike()) return failure;
        return real(f)->pMethods->xSync(real(f), how);
      };
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
      m.xLock = [](sqlite3_file* f, int how) { return real(f)->pMethods->xLock(real(f), how); };
      m.xUnlock = [](sqlite3_file* f, int how) { return real(f)->pMethods->xUnlock(real(f), how); };
      m.xCheckReservedLock = [](sqlite3_file* f, int* held) {
        return real(f)->pMethods->xCheckReservedLock(real(f), held);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      m.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
      return m;
    }();
    file->pMethods = &methods;
    return SQLITE_OK;
  }

  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs vfs_{};
};

}  // namespace mneme::testing
