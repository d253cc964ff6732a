#include "cluster/submission.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/error.h"

namespace mneme::cluster {
namespace {

namespace fs = std::filesystem;

std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? entry->pw_name : std::to_string(::getuid());
}

// In single quotes for the shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

Json settings_json(const SlurmSettings& settings) {
  return {{"nodes", settings.nodes},     {"workers", settings.workers},   {"time", settings.time},
          {"warning", settings.warning}, {"requeues", settings.requeues}, {"stage", settings.stage}};
}

}  // namespace

bool Submission::cancelled() const {
  std::error_code ignored;
  return fs::exists(directory / "cancelled", ignored);
}

void Submission::mark_cancelled() const { write_file_atomically(directory / "cancelled", ""); }

std::string Submission::job_name() const { return "mneme-" + place; }

void Submission::store() const {
  write_file_atomically(directory / "submission.json", Json{{"job", job},
                                                            {"study", study},
                                                            {"title", title},
                                                            {"scale", scale},
                                                            {"place", place},
                                                            {"overrides", overrides},
                                                            {"called", called},
                                                            {"user", user},
                                                            {"submitted", submitted},
                                                            {"settings", settings_json(settings)},
                                                            {"runs", runs}}
                                                               .dump(2) +
                                                           "\n");
}

Submission create_submission(const store::Lab& lab, Submission submission, std::span<const config::RunConfig> runs) {
  submission.user = user_name();
  submission.submitted = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  Json configs = Json::array();
  for (const config::RunConfig& run : runs) {
    submission.runs.push_back(run.id);
    configs.push_back(run.json());
  }
  const Path jobs = lab.root() / "jobs";
  file_system().create_directories(jobs);
  const std::string stem = fmt::format("{}-{:%Y%m%d-%H%M%S}", submission.place, fmt::gmtime(std::time(nullptr)));
  // Two users may submit in the same second.
  for (int number = 1;; ++number) {
    submission.directory = fs::absolute(jobs / (number == 1 ? stem : fmt::format("{}-{}", stem, number)));
    if (fs::create_directory(submission.directory)) break;
  }
  file_system().sync_directory(jobs);
  write_file_atomically(submission.directory / "runs.json", configs.dump() + "\n");
  submission.store();
  return submission;
}

Submission read_submission(const Path& directory) {
  const Path file = directory / "submission.json";
  const Json json = parse_json(read_file(file), file.string());
  try {
    Submission submission;
    submission.directory = directory;
    submission.job = json.at("job");
    submission.study = json.at("study");
    submission.title = json.at("title");
    submission.scale = json.at("scale");
    submission.place = json.at("place");
    submission.overrides = json.value("overrides", std::vector<std::string>());
    submission.called = json.value("called", submission.study);
    submission.user = json.at("user");
    submission.submitted = json.at("submitted");
    submission.runs = json.at("runs").get<std::vector<std::string>>();
    const Json& settings = json.at("settings");
    submission.settings.nodes = settings.at("nodes");
    submission.settings.workers = settings.at("workers");
    submission.settings.time = settings.at("time");
    submission.settings.warning = settings.at("warning");
    submission.settings.requeues = settings.at("requeues");
    submission.settings.stage = settings.at("stage");
    return submission;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::data, file.string(), fmt::format("not a submission: {}", error.what()));
  }
}

std::vector<config::RunConfig> read_runs(const Submission& submission) {
  const Path file = submission.directory / "runs.json";
  std::vector<config::RunConfig> runs;
  for (const Json& json : parse_json(read_file(file), file.string()))
    runs.push_back(config::resolve_run(config_from_json(json, file.string())));
  return runs;
}

std::vector<Submission> submissions(const store::Lab& lab) {
  std::vector<Submission> found;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(lab.root() / "jobs", missing)) {
    try {
      found.push_back(read_submission(entry.path()));
    } catch (const Error&) {
      // A submission that was interrupted has nothing to tell.
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Submission& a, const Submission& b) { return a.submitted > b.submitted; });
  return found;
}

std::string job_script(const Submission& submission, const store::Lab& lab, const Path& mneme, std::int64_t memory) {
  const SlurmSettings& settings = submission.settings;
  std::string text = "#!/bin/bash\n";
  const auto option = [&](const std::string& value) { text += "#SBATCH " + value + "\n"; };
  option("--job-name=" + submission.job_name());
  option(fmt::format("--array=1-{}", settings.nodes));
  option("--nodes=1");
  option("--ntasks=1");
  option(fmt::format("--cpus-per-task={}", settings.workers));
  if (memory > 0) option(fmt::format("--mem={}M", memory));
  if (!settings.time.empty()) option("--time=" + settings.time);
  option(fmt::format("--signal=B:USR1@{}", settings.warning));
  option("--requeue");
  option("--open-mode=append");
  option(fmt::format("--output=\"{}/task-%a.log\"", submission.directory.string()));
  if (!settings.partition.empty()) option("--partition=" + settings.partition);
  if (!settings.account.empty()) option("--account=" + settings.account);
  for (const std::string& more : settings.sbatch) option(more);
  text += "\n";
  if (!lab.leases_address().empty()) text += fmt::format("export MNEME_LEASES={}\n", quoted(lab.leases_address()));
  for (const std::string& line : settings.setup) text += line + "\n";
  // In place of the shell, so that Slurm's signals reach it.
  text += fmt::format("exec {} node {} --lab {}\n", quoted(mneme.string()), quoted(submission.directory.string()),
                      quoted(fs::absolute(lab.root()).lexically_normal().string()));
  return text;
}

}  // namespace mneme::cluster
