#include "run/failure_record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "store/lease_holder.h"
#include "store/run_writer.h"

namespace mneme::run {
namespace {

// The worker may have written it before it failed.
void log_once(const store::RunWriter& writer, const store::RunDirectory& directory, const std::string& line) {
  const std::vector<std::string> last = directory.last_log_lines(1);
  if (last.empty() || !last.back().ends_with(" " + line)) writer.log(line);
}

}  // namespace

std::string record_ending(const store::RunDirectory& directory, const std::string& id, std::int64_t attempt,
                          const Ending& ending) try {
  const store::RunWriter writer = store::RunWriter::speak_for(directory, attempt, store::our_holder());
  if (const auto summary = directory.summary(); summary && summary->value("outcome", "") != "failed") return "";
  Json values = {{"step", 0}};
  Json seconds = 0;
  for (const Json& metric : directory.metrics()) {
    values["step"] = metric.at("step");
    if (metric.value("split", "") == "validation") values["validation"] = metric.at("values");
    if (metric.contains("times")) seconds = metric["times"].value("seconds", Json(0));
  }
  Json summary = {
      {"id", id},
      {"outcome", ending.outcome},
      {"reason", ending.reason},
      {"values", values},
      {"times",
       {{"seconds", seconds}, {"finished_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}}}};
  if (ending.set_aside) summary["set_aside"] = true;
  writer.write_summary(summary);
  log_once(writer, directory, fmt::format("{}: {}", ending.outcome, ending.reason));
  return "";
} catch (const std::exception& error) {
  return error.what();
}

std::int64_t record_death(const store::RunDirectory& directory, std::int64_t attempt,
                          const std::vector<std::string>& log) try {
  const store::RunWriter writer = store::RunWriter::speak_for(directory, attempt, store::our_holder());
  for (const std::string& line : log) writer.log(line);
  const std::int64_t deaths = directory.attempt().deaths + 1;
  writer.set_deaths(deaths);
  return deaths;
} catch (const std::exception&) {
  // A directory that cannot be written is reported by whatever is tried next in it.
  return 1;
}

}  // namespace mneme::run
