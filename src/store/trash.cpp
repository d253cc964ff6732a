#include "store/trash.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "core/error.h"

namespace mneme::store {
namespace {

// The time in the name sorts; a number follows where that is not enough.
Path free_place(const Lab& lab, std::string_view id) {
  const std::string stem = fmt::format("{}.{:%Y%m%dT%H%M%SZ}", id, fmt::gmtime(std::time(nullptr)));
  Path place = lab.trash() / stem;
  for (int i = 2; std::filesystem::exists(place); ++i) place = lab.trash() / fmt::format("{}-{}", stem, i);
  return place;
}

}  // namespace

Path move_to_trash(const Lab& lab, std::string_view id, Leases& leases) {
  const RunDirectory directory = lab.run(id);
  std::int64_t floor = 0;
  try {
    floor = directory.attempt().number;
    if (directory.state() == RunState::running)
      throw Error(ErrorKind::io, directory.path().string(), "is running, expected a run that is not");
  } catch (const Error& error) {
    // A damaged run is one that people want to be rid of.
    if (error.kind() != ErrorKind::data) throw;
  }
  const auto attempt = leases.acquire(id, floor);
  if (!attempt) throw Error(ErrorKind::io, directory.path().string(), "is running, expected a run that is not");
  const Path place = free_place(lab, id);
  try {
    file_system().create_directories(lab.trash());
    file_system().rename(directory.path(), place);
    file_system().sync_directory(lab.trash());
    file_system().sync_directory(lab.runs());
  } catch (...) {
    leases.release(id, *attempt);
    throw;
  }
  leases.release(id, *attempt);
  return place;
}

}  // namespace mneme::store
