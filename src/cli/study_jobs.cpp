#include "cli/study_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/subprocess.h"
#include "core/text.h"
#include "report/stats/format.h"
#include "run/stop_signals.h"

namespace mneme::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool ended(const store::Lab& lab, const std::string& id) {
  std::error_code ignored;
  return fs::exists(lab.run(id).path() / "summary.json", ignored);
}

// Those that Slurm took.
std::vector<cluster::Submission> submitted(const store::Lab& lab) {
  std::vector<cluster::Submission> all = cluster::submissions(lab);
  std::erase_if(all, [](const cluster::Submission& submission) { return submission.job.empty(); });
  return all;
}

std::vector<std::string> ids_of(const std::vector<cluster::Submission>& submissions) {
  std::vector<std::string> ids;
  for (const cluster::Submission& submission : submissions) ids.push_back(submission.job);
  return ids;
}

std::vector<Json> tasks_of(const cluster::Submission& submission) {
  std::vector<Json> tasks;
  for (int task = 1; task <= submission.settings.nodes; ++task) {
    const Path file = submission.task_file(task);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    try {
      tasks.push_back(parse_json(read_file(file), file.string()));
    } catch (const Error&) {
      // It was being replaced, on a disk that shows that; the next look has it.
    }
  }
  return tasks;
}

std::vector<std::string> variant_of(const Json& job) {
  std::vector<std::string> words{job["study"].get<std::string>()};
  for (const Json& assignment : job["overrides"]) words.push_back(assignment.get<std::string>());
  return words;
}

// Slurm's reason, or that it has none yet.
std::string reason_of(const std::string& reason) {
  return reason.empty() || reason == "None" ? "Slurm has not looked at it yet" : reason;
}

// What a task wrote before its node died is no longer true. Its place in the queue says whether it is at work.
void mark_lost(std::vector<Json>& tasks, const std::vector<cluster::SlurmJob>& jobs) {
  std::set<std::string> at_work;
  for (const cluster::SlurmJob& job : jobs)
    if (job.state != "PENDING") at_work.insert(job.id.substr(job.id.rfind('_') + 1));
  for (Json& task : tasks) {
    if (task.value("state", "") != "running" || at_work.contains(task.value("task", Json()).dump())) continue;
    task["state"] = "lost";
    task["note"] = "it is not at work any more, and left without a word";
    task["workers"] = Json::array();
  }
}

// Work that is left by the speed of those who are at it now; null where nothing runs.
Json seconds_left(const cluster::Submission& submission, const store::Lab& lab, const std::vector<Json>& tasks) {
  double speed = 0, work = 0;
  std::map<std::string, double> shares;
  for (const Json& task : tasks) {
    if (task.value("state", "") != "running") continue;
    for (const Json& worker : task.value("workers", Json::array())) {
      speed += worker.value("flops_per_second", 0.0);
      shares[worker.value("run", "")] = 1 - worker.value("step", 0.0) / std::max(1.0, worker.value("steps", 1.0));
    }
  }
  if (speed <= 0) return nullptr;
  for (const config::RunConfig& run : cluster::read_runs(submission)) {
    if (ended(lab, run.id)) continue;
    const auto share = shares.find(run.id);
    work += run.training_flops() * (share == shares.end() ? 1 : share->second);
  }
  return work / speed;
}

// Tasks that wait for the same reason are one line.
void print_queue(const Json& jobs) {
  std::map<std::string, std::vector<std::string>> waiting;
  for (const Json& job : jobs) {
    const auto text = [&](const char* key) { return job[key].get<std::string>(); };
    if (text("state") == "PENDING")
      waiting[reason_of(text("reason"))].push_back(text("id"));
    else
      fmt::print("  {} {}{}\n", text("id"), text("state"),
                 text("node").empty() ? "" : fmt::format(" on {}, {} left", text("node"), text("left")));
  }
  for (const auto& [reason, ids] : waiting) {
    constexpr std::size_t kNamed = 4;
    fmt::print("  {} {}: {}\n",
               ids.size() <= kNamed ? join(ids, ", ") : fmt::format("{} and {} more", ids.front(), ids.size() - 1),
               ids.size() == 1 ? "waits" : "wait", reason);
  }
}

void print_tasks(const Json& tasks) {
  constexpr std::size_t kShown = 32;
  std::size_t workers = 0;
  for (const Json& task : tasks) {
    for (const Json& worker : task["workers"])
      if (++workers <= kShown)
        fmt::print("    {}: run {} {}, lr {}, seed {}: step {} of {}, {:.3g} tokens/s\n",
                   task["node"].get<std::string>(), worker["run"].get<std::string>(),
                   worker["mixer"].get<std::string>(), report::format_rate(worker["lr"].get<double>()),
                   worker["seed"].dump(), grouped(worker["step"].get<std::int64_t>()),
                   grouped(worker["steps"].get<std::int64_t>()), worker["tokens_per_second"].get<double>());
    if (task["state"] != "running" && task["note"] != "")
      fmt::print("    task {} on {} {}: {}\n", task["task"].dump(), task["node"].get<std::string>(),
                 task["state"].get<std::string>(), harmless(task["note"].get<std::string>()));
  }
  if (workers > kShown) fmt::print("    and {} more workers; --json names them all\n", workers - kShown);
}

std::string counted(const std::vector<cluster::SlurmJob>& jobs) {
  std::map<std::string, int> states;
  for (const cluster::SlurmJob& job : jobs)
    ++states[job.state == "PENDING"   ? fmt::format("waiting ({})", reason_of(job.reason))
             : job.state == "RUNNING" ? "running"
                                      : job.state];
  std::vector<std::string> parts;
  for (const auto& [state, count] : states) parts.push_back(fmt::format("{} {}", count, state));
  return parts.empty() ? "none" : join(parts, ", ");
}

}  // namespace

std::vector<cluster::Submission> live_submissions(const store::Lab& lab) {
  std::vector<cluster::Submission> live = submitted(lab);
  const auto jobs = cluster::slurm_jobs(ids_of(live));
  std::erase_if(live, [&](const cluster::Submission& submission) { return !jobs || jobs->at(submission.job).empty(); });
  return live;
}

Json jobs_json(const store::Lab& lab) {
  Json list = Json::array();
  const std::vector<cluster::Submission> all = submitted(lab);
  const auto queue = cluster::slurm_jobs(ids_of(all));
  for (const cluster::Submission& submission : all) {
    std::int64_t count = 0;
    for (const std::string& id : submission.runs) count += ended(lab, id) ? 1 : 0;
    const auto jobs = queue ? std::optional(queue->at(submission.job)) : std::nullopt;
    const auto missing = std::ssize(submission.runs) - count;
    if (jobs && jobs->empty() && (missing == 0 || submission.cancelled())) continue;
    std::vector<Json> tasks = tasks_of(submission);
    if (jobs) mark_lost(tasks, *jobs);
    Json entries = Json::array();
    if (jobs)
      for (const cluster::SlurmJob& job : *jobs)
        entries.push_back({{"id", job.id},
                           {"state", job.state},
                           {"node", job.node},
                           {"reason", job.reason},
                           {"elapsed", job.elapsed},
                           {"left", job.left}});
    list.push_back({{"job", submission.job},
                    {"study", submission.study},
                    {"overrides", submission.overrides},
                    {"called", submission.called},
                    {"scale", submission.scale},
                    {"submitted", submission.submitted},
                    {"user", submission.user},
                    {"directory", submission.directory.string()},
                    {"slurm_answers", jobs.has_value()},
                    {"ended", count},
                    {"missing", missing},
                    {"seconds_left", jobs && !jobs->empty() ? seconds_left(submission, lab, tasks) : Json()},
                    {"jobs", entries},
                    {"tasks", tasks}});
  }
  return list;
}

void print_jobs(const Json& jobs) {
  for (const Json& job : jobs) {
    fmt::print(
        "\njob {} of {}{} ({}, {}): {} ended, {} missing{}\n", job["job"].get<std::string>(),
        harmless(join(variant_of(job), " ")),
        job["scale"] == "" ? "" : fmt::format(" at scale {}", job["scale"].get<std::string>()),
        job["user"].get<std::string>(), job["submitted"].get<std::string>(), job["ended"].dump(), job["missing"].dump(),
        job["seconds_left"].is_number() ? fmt::format(", about {} left", duration(job["seconds_left"].get<double>()))
                                        : "");
    if (!job["slurm_answers"].get<bool>()) fmt::print("  Slurm does not answer here\n");
    if (job["slurm_answers"].get<bool>() && job["jobs"].empty())
      fmt::print("  no job is left in the queue; run the rest with `mneme sweep {} --executor slurm`\n",
                 harmless(job["called"].get<std::string>()));
    print_queue(job["jobs"]);
    print_tasks(job["tasks"]);
  }
}

bool watch_jobs(const cluster::Submission& submission, const study::Study& study, const store::Lab& lab, bool quiet) {
  run::StopSignals signals;
  std::string told;
  int silence = 0;
  for (;;) {
    const auto queue = cluster::slurm_jobs({submission.job});
    const auto jobs = queue ? std::optional(queue->at(submission.job)) : std::nullopt;
    std::size_t count = 0;
    for (const config::RunConfig& run : study.runs) count += ended(lab, run.id) ? 1 : 0;
    // A controller that is started again does not answer for a while; the jobs know nothing of that.
    std::string line = fmt::format("{} of {} runs ended; jobs: {}", count, study.runs.size(),
                                   jobs ? counted(*jobs) : "Slurm does not answer");
    if (!quiet && line != told) fmt::print(stderr, "{}\n", line);
    told = std::move(line);
    // Twice: a task that requeues itself may be out of sight for a moment.
    silence = jobs && jobs->empty() ? silence + 1 : 0;
    if (silence >= 2) return true;
    for (int tenth = 0; tenth < 20; ++tenth) {
      if (signals.take() > 0) return false;
      std::this_thread::sleep_for(100ms);
    }
  }
}

run::ExecutionResult results_in(const study::Study& study, const store::Lab& lab) {
  run::ExecutionResult result;
  for (const config::RunConfig& run : study.runs) {
    const store::RunDirectory directory = lab.run(run.id);
    run::RunResult& one = result.runs.emplace_back();
    try {
      one.state = directory.state();
      one.summary = directory.summary().value_or(Json::object());
      one.reason = one.summary.value("reason", "");
    } catch (const Error& error) {
      one.reason = error.what();
    }
  }
  const auto missing = result.count(store::RunState::fresh) + result.count(store::RunState::interrupted) +
                       result.count(store::RunState::running);
  if (missing > 0)
    result.stopped = fmt::format("the jobs have ended, but {} runs are not finished; the job logs say why", missing);
  return result;
}

std::vector<std::string> cancel_jobs(const store::Lab& lab, const study::Study& study, bool all_variants) {
  std::set<std::string> ids;
  for (const config::RunConfig& run : study.runs) ids.insert(run.id);
  std::vector<std::string> lines;
  for (const cluster::Submission& submission : live_submissions(lab)) {
    if (submission.study != study.name) continue;
    // Jobs that also train other runs go on with those.
    if (!all_variants && !std::all_of(submission.runs.begin(), submission.runs.end(),
                                      [&](const std::string& run) { return ids.contains(run); }))
      continue;
    submission.mark_cancelled();
    lines.push_back(cluster::cancel_job(submission.job)
                        ? fmt::format("job {} cancelled", submission.job)
                        : fmt::format("job {} of {}: Slurm refused to cancel it", submission.job, submission.user));
  }
  return lines;
}

}  // namespace mneme::cli
