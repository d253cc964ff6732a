#include "store/leases.h"

#include <algorithm>

#include "core/hash.h"
#include "store/lease_holder.h"
#include "store/leases_postgres.h"
#include "store/leases_sqlite.h"

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

// Several machines may do this at once: a link to a finished file is made by one of them, and all read that one.
std::string name_in_database(const Lab& lab) {
  const Path file = lab.leases_id();
  if (!fs::exists(file)) {
    Path ours = file;
    const std::string name = sha256_hex(unique_name()).substr(0, 32);
    ours += "." + name;
    write_file_atomically(ours, name);
    std::error_code exists;
    fs::create_hard_link(ours, file, exists);
    file_system().remove(ours);
    if (exists && exists != std::errc::file_exists)
      throw Error(ErrorKind::io, file.string(), "cannot be created: " + exists.message());
    file_system().sync_directory(lab.root());
  }
  return read_file(file);
}

}  // namespace

std::optional<std::int64_t> Leases::acquire(std::string_view run, std::int64_t floor) {
  if (const auto attempt = take(run, floor, From::nobody)) return attempt;
  for (const Lease& lease : held(run)) {
    if (!is_gone(lease.holder)) return std::nullopt;
    free(lease);
  }
  return take(run, floor, From::nobody);
}

Leases::First Leases::acquire_first(const std::vector<std::string>& runs, std::size_t count) {
  First first;
  for (const std::string& run : runs) {
    if (first.leases.size() == count) break;
    if (const auto attempt = acquire(run, 0))
      first.leases.push_back({run, *attempt, options_.holder, 0});
    else
      first.held.push_back(run);
  }
  return first;
}

std::vector<std::string> Leases::renew_all(const std::vector<Lease>& leases) {
  std::vector<std::string> ours;
  for (const Lease& lease : leases)
    if (renew(lease.run, lease.attempt)) ours.push_back(lease.run);
  return ours;
}

bool Leases::while_held(std::string_view run, std::int64_t attempt, const std::function<void()>& action) {
  // As long as a lease lasts; a lab whose leases are in a file of one machine has locks on its disk, too.
  if (!renew(run, attempt)) return false;
  action();
  return true;
}

std::int64_t Leases::seize(std::string_view run, std::int64_t floor) { return take(run, floor, From::anybody).value(); }

void Leases::release(std::string_view run, std::int64_t attempt) {
  free({std::string(run), attempt, options_.holder, 0});
}

std::vector<Lease> Leases::live() {
  std::vector<Lease> leases = held(std::nullopt);
  std::erase_if(leases, [](const Lease& lease) { return is_gone(lease.holder); });
  return leases;
}

std::unique_ptr<Leases> open_leases(const Lab& lab, LeaseOptions options) {
  const bool in_database = fs::exists(lab.leases_id());
  if (lab.leases_address().empty()) {
    if (in_database)
      throw Error(ErrorKind::usage, lab.leases_id().string(),
                  "this lab keeps its leases in a database; give its URL with --leases or MNEME_LEASES, or remove this "
                  "file when nothing is running to go back to leases.db");
    return open_sqlite_leases(lab.leases(), std::move(options));
  }
  // An address that is wrong leaves no trace in the lab.
  PostgresConnection connection(lab.leases_address());
  if (!in_database && fs::exists(lab.leases()) && !open_sqlite_leases(lab.leases(), options)->live().empty())
    throw Error(ErrorKind::usage, lab.leases().string(),
                "a command without --leases is running and would not see ours; wait until it has ended");
  return open_postgres_leases(std::move(connection), name_in_database(lab), std::move(options), lease_table(lab));
}

}  // namespace mneme::store
