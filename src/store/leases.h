// Who may train which run: a lease has a holder, an attempt number and a time at which it expires.
//
// Acquiring a lease is one atomic statement. It gives a number that is higher than every one before it; the run's
// directory lets only the newest number write (run_writer.h), so a lease that was lost without its holder knowing
// costs time, never a result. A lease that is not renewed expires, and the run may be leased again.
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

struct Lease {
  std::string run;
  std::int64_t attempt = 0;
  std::string holder;
  double expires = 0;  // seconds since 1970
};

struct LeaseOptions {
  std::string holder;
  double seconds = 60;  // until it expires, unless it is renewed
  // Seconds after the start of a database's server in which leases that ran out before it are not given to others:
  // their holders could not renew them. As long as a lease unless a test says otherwise.
  std::optional<double> grace = {};
  std::function<double()> now = {};  // seconds since 1970, for SQLite; the machine's clock unless a test has its own
};

// Every operation throws DatabaseError.
class Leases {
 public:
  virtual ~Leases() = default;

  // The attempt's number, above `floor`; nothing if another holder has the lease. The lease of a process that died on
  // this machine is free at once.
  std::optional<std::int64_t> acquire(std::string_view run, std::int64_t floor);
  // The leases of up to `count` of these runs, the first that are free (or some of the first, where many ask at once),
  // in their order; says in `held` which of them others have, as far as it looked. Fewer than `count` do not mean that
  // no other is free. The caller checks that each number is above the run's floor.
  struct First {
    std::vector<Lease> leases;
    std::vector<std::string> held;
  };
  virtual First acquire_first(const std::vector<std::string>& runs, std::size_t count);
  // True if acquire_first() is one question, however many the runs are.
  virtual bool asks_at_once() const { return false; }
  // Like acquire(), but takes the lease from any holder: for cancelling.
  std::int64_t seize(std::string_view run, std::int64_t floor);
  // Extends the lease; false if it is no longer ours.
  virtual bool renew(std::string_view run, std::int64_t attempt) = 0;
  // Extends several (run and attempt count) and returns the runs whose lease is still ours.
  virtual std::vector<std::string> renew_all(const std::vector<Lease>& leases);
  // Carries out an action while no one can take the lease away; false, and no action, if it is no longer ours.
  virtual bool while_held(std::string_view run, std::int64_t attempt, const std::function<void()>& action);
  // Gives the lease back; does nothing if it is no longer ours.
  void release(std::string_view run, std::int64_t attempt);
  // The leases that have not expired, sorted by run.
  std::vector<Lease> live();

 protected:
  explicit Leases(LeaseOptions options) : options_(std::move(options)) {}
  enum class From { nobody, anybody };

  LeaseOptions options_;

 private:
  // One atomic statement: a new attempt if the lease is free, or in any case.
  virtual std::optional<std::int64_t> take(std::string_view run, std::int64_t floor, From from) = 0;
  virtual void free(const Lease& lease) = 0;
  // Leases that have not expired, of one run or of all.
  virtual std::vector<Lease> held(std::optional<std::string_view> run) = 0;
};

// The leases of a lab: in its leases.db, or in the database that the lab names (Lab::leases_address()), which several
// machines with one shared directory can reach. A lab whose leases are in a database has a file leases.id, which holds
// the lab's name there. Throws Error(usage) where commands would not see each other's leases: no address although there
// is a leases.id, or an address while leases in leases.db are held.
std::unique_ptr<Leases> open_leases(const Lab& lab, LeaseOptions options);

}  // namespace mneme::store
