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

#include "store/database_error.h"
#include "store/lab.h"

namespace mneme::store {

struct ClaimRow {
  std::string run;
  std::int64_t attempt = 0;
  std::string holder;
  double expires = 0;  // seconds since 1970
};

struct ClaimOptions {
  std::string holder;
  double lease = 60;                 // seconds
  std::function<double()> now = {};  // seconds since 1970, for SQLite; the machine's clock unless a test has its own
};

// Every operation throws DatabaseError.
class Claims {
 public:
  virtual ~Claims() = default;

  // The attempt's number, above `floor`; nothing if another holder's lease is running. A process that died on this
  // machine will not renew: nobody waits for its lease.
  std::optional<std::int64_t> claim(std::string_view run, std::int64_t floor);
  // As claim(), whoever holds it: for cancelling.
  std::int64_t seize(std::string_view run, std::int64_t floor);
  // Extends the lease; false if the claim is no longer ours.
  virtual bool renew(std::string_view run, std::int64_t attempt) = 0;
  // Gives the claim back; nothing if it is no longer ours.
  void release(std::string_view run, std::int64_t attempt);
  // Claims whose lease is running, by run.
  std::vector<ClaimRow> live();

 protected:
  explicit Claims(ClaimOptions options) : options_(std::move(options)) {}
  enum class From { nobody, anybody };

  ClaimOptions options_;

 private:
  // One atomic statement: a new attempt if no lease is running, or in any case.
  virtual std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) = 0;
  virtual void free(const ClaimRow& claim) = 0;
  // Running leases, of one run or of all.
  virtual std::vector<ClaimRow> held(std::optional<std::string_view> run) = 0;
};

// The claims of a lab: in its claims.db, or in the database that the lab names (Lab::claims_address()), where several
// machines with one shared directory find them. A lab whose claims went to a database has a file claims.id, its name
// there. Throws Error(usage) where commands would not see each other's claims: claims.db asked for beside a
// claims.id, or a database while claims in claims.db are live.
std::unique_ptr<Claims> open_claims(const Lab& lab, ClaimOptions options);

// "host/boot/pid/start" of this process: unique, and the same machine can tell whether it is still there.
std::string our_holder();
// Our holder and a count: a name that nothing else has, here or on another machine.
std::string unique_name();
// True if the holder was a process of this machine and is gone.
bool is_gone(std::string_view holder);
// "pid 123 on host".
std::string describe_holder(std::string_view holder);

}  // namespace mneme::store
