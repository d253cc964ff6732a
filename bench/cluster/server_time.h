// The time that a database's server spends on one client: processor time of the process that serves it, as the kernel
// counts it. Other programs of the machine do not change it.
#pragma once

#include <fstream>
#include <string>

#include "store/postgres.h"

namespace mneme::bench {

class ServerTime {
 public:
  ServerTime() = default;
  explicit ServerTime(store::PostgresConnection& connection)
      : file_("/proc/" + connection.execute("SELECT pg_backend_pid()").at(0).at(0) + "/schedstat"), last_(read()) {}

  // Seconds since it was last called.
  double take() {
    const double now = read(), spent = now - last_;
    last_ = now;
    return spent;
  }

 private:
  double read() const {
    double nanoseconds = 0;
    std::ifstream(file_) >> nanoseconds;
    return 1e-9 * nanoseconds;
  }

  std::string file_;
  double last_ = 0;
};

}  // namespace mneme::bench
