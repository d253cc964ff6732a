#include "store/claims.h"

#include <algorithm>

#include "core/hash.h"
#include "store/claims_postgres.h"
#include "store/claims_sqlite.h"

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

// Several machines may do this at once: a link to a finished file is made by one of them, and all read that one.
std::string name_in_database(const Lab& lab) {
  const Path file = lab.claims_id();
  if (!fs::exists(file)) {
    Path ours = file;
    const std::string name = sha256_hex(unique_name()).substr(0, 32);
    ours += "." + name;
    write_file_atomically(ours, name);
    std::error_code exists;
    fs::create_hard_link(ours, file, exists);
    file_system().remove(ours);
    if (exists && exists != std::errc::file_exists)
      throw Error(ErrorKind::io, file.string(), "cannot be made: " + exists.message());
    file_system().sync_directory(lab.root());
  }
  return read_file(file);
}

}  // namespace

std::optional<std::int64_t> Claims::claim(std::string_view run, std::int64_t floor) {
  if (const auto attempt = take(run, floor, From::nobody)) return attempt;
  for (const ClaimRow& claim : held(run)) {
    if (!is_gone(claim.holder)) return std::nullopt;
    free(claim);
  }
  return take(run, floor, From::nobody);
}

std::int64_t Claims::seize(std::string_view run, std::int64_t floor) { return take(run, floor, From::anybody).value(); }

void Claims::release(std::string_view run, std::int64_t attempt) {
  free({std::string(run), attempt, options_.holder, 0});
}

std::vector<ClaimRow> Claims::live() {
  std::vector<ClaimRow> claims = held(std::nullopt);
  std::erase_if(claims, [](const ClaimRow& claim) { return is_gone(claim.holder); });
  return claims;
}

std::unique_ptr<Claims> open_claims(const Lab& lab, ClaimOptions options) {
  const bool in_database = fs::exists(lab.claims_id());
  if (lab.claims_address().empty()) {
    if (in_database)
      throw Error(ErrorKind::usage, lab.claims_id().string(),
                  "the claims of this lab are in a database, expected its address by --claims or MNEME_CLAIMS; remove "
                  "this file to go back to claims.db when nothing runs");
    return open_sqlite_claims(lab.claims(), std::move(options));
  }
  // An address that is wrong leaves no trace in the lab.
  PostgresConnection connection(lab.claims_address());
  if (!in_database && fs::exists(lab.claims()) && !open_sqlite_claims(lab.claims(), options)->live().empty())
    throw Error(ErrorKind::usage, lab.claims().string(),
                "a command without --claims is running, which would not see our claims; expected it to end first");
  return open_postgres_claims(std::move(connection), name_in_database(lab), std::move(options));
}

}  // namespace mneme::store
