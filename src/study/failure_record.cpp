#include "study/failure_record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace mneme {

std::string record_failure(const RunDirectory& directory, const RunConfig& run, const std::string& reason) try {
  const auto lock = directory.lock();
  if (directory.summary()) return "";
  Json values = {{"step", 0}};
  Json seconds = 0;
  for (const Json& metric : directory.metrics()) {
    values["step"] = metric.at("step");
    if (metric.value("split", "") == "validation") values["validation"] = metric.at("values");
    if (metric.contains("times")) seconds = metric["times"].value("seconds", Json(0));
  }
  directory.write_summary({{"id", run.id},
                           {"outcome", "failed"},
                           {"reason", reason},
                           {"values", values},
                           {"times",
                            {{"seconds", seconds},
                             {"finished_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}}}});
  directory.log("failed: " + reason);
  return "";
} catch (const std::exception& error) {
  return error.what();
}

}  // namespace mneme
