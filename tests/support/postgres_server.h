// A private PostgreSQL server for a test, gone at the end, also if the test crashes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/subprocess.h"
#include "support/places.h"

namespace mneme::testing {

class PostgresServer {
 public:
  PostgresServer()
      : process_({.argv = {"bash", source_directory() + "/tests/support/postgres_lab.sh"}, .environment = {}}) {
    while (address_.empty() && !process_.exit_code()) {
      for (const std::string& line : process_.receive()) address_ = line;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(missing() || !address_.empty()) << process_.error_tail();
  }
  ~PostgresServer() { stop(); }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void stop() {
    process_.close_input();
    while (!process_.exit_code()) {
      process_.receive();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // The server's programs are not installed; why() says which.
  bool missing() { return process_.exit_code() == 77; }
  std::string why() const { return process_.error_tail(); }

  const std::string& address() const { return address_; }
  // Of the socket.
  std::string directory() const {
    const std::size_t start = address_.find("host=") + 5;
    return address_.substr(start, address_.find('&') - start);
  }

 private:
  LineProcess process_;
  std::string address_;
};

}  // namespace mneme::testing

#define MNEME_NEEDS_POSTGRES(server) \
  if ((server).missing()) GTEST_SKIP() << (server).why()
