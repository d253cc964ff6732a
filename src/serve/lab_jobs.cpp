#include "serve/lab_jobs.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "cluster/submission.h"
#include "core/error.h"

namespace mneme::serve {
namespace {

constexpr std::size_t kMostJobs = 10;
constexpr std::int64_t kMostNodes = 1000;
constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr std::time_t kRecent = 3600;  // seconds

// What a task says of itself, or null.
Json node_of(const cluster::Submission& submission, int task) {
  const Path file = submission.task_file(task);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || static_cast<std::uintmax_t>(status.st_size) > kMostBytes) return {};
  try {
    const Json told = parse_json(read_file(file), file.string());
    double speed = 0;
    for (const Json& worker : told.at("workers")) speed += worker.value("tokens_per_second", 0.0);
    std::int64_t ended = 0;
    for (const Json& count : told.at("ended")) ended += count.get<std::int64_t>();
    return {{"task", task},
            {"node", told.at("node").get<std::string>()},
            {"state", told.at("state").get<std::string>()},
            {"note", told.value("note", "")},
            {"told", status.st_mtim.tv_sec},
            {"workers", told.at("workers").size()},
            {"tokens_per_second", speed},
            {"ended", ended}};
  } catch (const Error&) {
    return {};
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace

Json jobs_of(const store::Lab& lab) {
  Json jobs = Json::array();
  const std::time_t now = std::time(nullptr);
  for (const cluster::Submission& submission : cluster::submissions(lab)) {
    if (submission.job.empty()) continue;
    Json nodes = Json::array();
    bool recent = false;
    for (int task = 1; task <= static_cast<int>(std::min(submission.settings.nodes, kMostNodes)); ++task) {
      Json node = node_of(submission, task);
      if (node.is_null()) continue;
      recent |= now - node["told"].get<std::time_t>() < kRecent;
      nodes.push_back(std::move(node));
    }
    if (!recent) continue;
    jobs.push_back({{"job", submission.job},
                    {"study", submission.study},
                    {"scale", submission.scale},
                    {"user", submission.user},
                    {"submitted", submission.submitted},
                    {"cancelled", submission.cancelled()},
                    {"runs", submission.runs.size()},
                    {"nodes", nodes}});
    if (jobs.size() >= kMostJobs) break;
  }
  return jobs;
}

}  // namespace mneme::serve
