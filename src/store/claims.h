// Who may train which run: claims with an attempt number and a lease.
//
// A claim is one atomic statement. It gives a number that is higher than every one before it; the run's directory
// lets only the newest number write (run_writer.h), so a claim that was lost without its holder knowing costs
// time, never a result. A lease that is not renewed expires, and the run may be claimed again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"

namespace mneme {

struct ClaimRow {
  std::string run;
  std::int64_t attempt = 0;
  std::string holder;
  double expires = 0;  // seconds since 1970
};

class Claims {
 public:
  virtual ~Claims() = default;

  // The attempt's number, above `floor`; nothing if another holder's lease is running.
  virtual std::optional<std::int64_t> claim(std::string_view run, std::int64_t floor) = 0;
  // As claim(), whoever holds it: for cancelling.
  virtual std::int64_t seize(std::string_view run, std::int64_t floor) = 0;
  // Extends the lease; false if the claim is no longer ours.
  virtual bool renew(std::string_view run, std::int64_t attempt) = 0;
  // Gives the claim back; nothing if it is no longer ours.
  virtual void release(std::string_view run, std::int64_t attempt) = 0;
  // Claims whose lease is running, by run.
  virtual std::vector<ClaimRow> live() = 0;
};

struct ClaimOptions {
  std::string holder;
  double lease = 60;                 // seconds
  std::function<double()> now = {};  // seconds since 1970; the machine's clock unless a test has its own
};

// Claims in a SQLite file, made if it is missing and made again if it is damaged: the directories remember the
// numbers.
std::unique_ptr<Claims> open_claims(const Path& file, ClaimOptions options);

// "host/boot/pid/start" of this process: unique, and the same machine can tell whether it is still there.
std::string our_holder();
// True if the holder was a process of this machine and is gone.
bool is_gone(std::string_view holder);
// "pid 123 on host".
std::string describe_holder(std::string_view holder);

}  // namespace mneme
