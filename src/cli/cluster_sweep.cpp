#include "cli/cluster_sweep.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "cli/study_jobs.h"
#include "cluster/node_memory.h"
#include "cluster/preflight.h"
#include "cluster/slurm.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/study_record.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

namespace fs = std::filesystem;

// The lab as the jobs will see it: with an absolute path, and the profile's leases unless others were given.
store::Lab lab_for_jobs(const store::Lab& lab, const cluster::SlurmSettings& settings) {
  return store::Lab(fs::absolute(lab.root()).lexically_normal(),
                    lab.leases_address().empty() ? settings.leases : lab.leases_address());
}

Path our_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

// Everything that can be known to be wrong before Slurm has the job.
void check_before(const store::Lab& lab, const cluster::SlurmSettings& settings) {
  const auto partitions = cluster::slurm_partitions();
  cluster::check_partition(settings, partitions);
  run::find_worker();
  lab.create();
  cluster::check_shared(lab, settings, partitions);
  cluster::check_locks(lab, settings);
  cluster::check_leases(lab, settings);
}

// For commands that select runs: --study 'demo train.seed=1' --scale smoke.
std::string selection_of(const StudyInput& input, const study::Study& study) {
  return "--study " + shell_word(join(input.arguments, " ")) +
         (study.scale.empty() ? "" : " --scale " + shell_word(study.scale));
}

std::optional<cluster::Submission> already_at_it(const study::Study& study, const store::Lab& lab) {
  for (const cluster::Submission& submission : live_submissions(lab)) {
    const std::set<std::string> ids(submission.runs.begin(), submission.runs.end());
    if (std::all_of(study.runs.begin(), study.runs.end(),
                    [&](const config::RunConfig& run) { return ids.contains(run.id); }))
      return submission;
  }
  return std::nullopt;
}

cluster::Submission outline(const study::Study& study, const std::string& words,
                            const cluster::SlurmSettings& settings) {
  cluster::Submission submission;
  submission.study = study.name;
  submission.overrides = study.overrides;
  submission.called = words;
  submission.title = study.title;
  submission.scale = study.scale;
  submission.place = study.file_name();
  // It is a part of a job's name and of paths in which Slurm replaces %a.
  for (char& letter : submission.place)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '.' && letter != '=' && letter != '_')
      letter = '-';
  submission.settings = settings;
  return submission;
}

cluster::Submission submit(const study::Study& study, const std::string& words, const store::Lab& lab,
                           const cluster::SlurmSettings& settings) {
  const std::int64_t memory = cluster::memory_of_node(study.runs, lab, settings, true);
  cluster::Submission submission = cluster::create_submission(lab, outline(study, words, settings), study.runs);
  try {
    write_file_atomically(submission.script(), cluster::job_script(submission, lab, our_program(), memory));
    cluster::test_script(submission.script());
    submission.job = cluster::submit_script(submission.script());
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(submission.directory, ignored);
    throw;
  }
  submission.store();
  return submission;
}

}  // namespace

void ClusterOptions::add(CLI::App& app) {
  app.add_option("--executor", executor, "where to train: local (this machine) or slurm (jobs of a cluster)")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  options_ = {
      app.add_option("--nodes", given.nodes, "slurm: number of nodes; each runs one task of a job array")
          ->type_name("N"),
      app.add_option("--workers-per-node", given.workers, "slurm: single-threaded workers on each node")
          ->type_name("N"),
      app.add_option("--time", given.time, "slurm: time limit of a job, in Slurm's format: 4:00:00")->type_name("TIME"),
      app.add_option("--partition", given.partition, "slurm: partition")->type_name("NAME"),
      app.add_option("--account", given.account, "slurm: account")->type_name("NAME"),
      app.add_option("--sbatch", sbatch, "slurm: further sbatch options, as one argument; may be repeated")
          ->type_name("OPTIONS")
          ->allow_extra_args(false),
      app.add_option("--memory", given.memory,
                     "slurm: memory per node in megabytes (default: from a measured estimate)")
          ->type_name("MB"),
      app.add_option("--stage", given.stage,
                     "slurm: train in this directory of the node's own disk and move whole runs to the lab: for shared "
                     "disks without working locks")
          ->type_name("DIR"),
      app.add_flag("--dry-run", dry_run, "slurm: print the script that would be submitted, and submit nothing"),
      app.add_flag("--detach", detach, "slurm: submit and return at once; `mneme status` shows the progress"),
      app.add_flag("--again", again, "slurm: submit even if jobs of this study are already in the queue")};
}

bool ClusterOptions::was_given(const char* name) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const CLI::Option* option) { return option->check_name(name) && option->count() > 0; });
}

void ClusterOptions::check() const {
  if (slurm()) return;
  for (const CLI::Option* option : options_)
    if (option->count() > 0) throw Error(ErrorKind::usage, option->get_name(), "needs --executor slurm");
}

cluster::SlurmSettings ClusterOptions::settings(const store::Lab& lab) const {
  cluster::SlurmSettings settings = cluster::load_slurm_settings(lab);
  if (was_given("--nodes")) settings.nodes = given.nodes;
  if (was_given("--workers-per-node")) settings.workers = given.workers;
  if (was_given("--time")) settings.time = given.time;
  if (was_given("--partition")) settings.partition = given.partition;
  if (was_given("--account")) settings.account = given.account;
  if (was_given("--memory")) settings.memory = given.memory;
  if (was_given("--stage")) settings.stage = given.stage;
  settings.sbatch.insert(settings.sbatch.end(), sbatch.begin(), sbatch.end());
  cluster::check_settings(settings);
  return settings;
}

std::optional<int> sweep_by_slurm(const study::Study& study, const ClusterOptions& options, const CodeChoice& code,
                                  const StudyInput& input, const Context& context, run::ExecutionResult& finished) {
  const std::string words = input.words_for(study);
  const cluster::SlurmSettings settings = options.settings(context.lab());
  const store::Lab lab = lab_for_jobs(context.lab(), settings);
  if (options.dry_run) {
    cluster::Submission submission = outline(study, words, settings);
    submission.directory = lab.root() / "jobs" / (submission.place + "-DATE-TIME");
    const std::string script =
        cluster::job_script(submission, lab, our_program(), cluster::memory_of_node(study.runs, lab, settings, true));
    if (context.json)
      print_json({{"script", without_passwords(script)}});
    else
      fmt::print("{}", without_passwords(script));
    return 0;
  }
  check_before(lab, settings);
  std::optional<cluster::Submission> submission;
  if (!options.again) submission = already_at_it(study, lab);
  const bool found = submission.has_value();
  if (!found) {
    std::vector<std::string> ids;
    for (const config::RunConfig& run : study.runs) ids.push_back(run.id);
    reckon_with_other_code(ids, lab, code);
    report::remember_study(lab, study);
    submission = submit(study, words, lab, settings);
  }
  if (!context.json)
    fmt::print(stderr, "job {} {} ({} node{} with {} worker{} each); files in {}\n", submission->job,
               found ? "is already training this study" : "submitted", submission->settings.nodes,
               submission->settings.nodes == 1 ? "" : "s", submission->settings.workers,
               submission->settings.workers == 1 ? "" : "s", submission->directory.string());
  if (options.detach) {
    if (context.json)
      print_json({{"job", submission->job}, {"submitted", !found}, {"directory", submission->directory.string()}});
    else
      fmt::print("watch the jobs: mneme status; end them: mneme cancel {} --jobs\n", selection_of(input, study));
    return 0;
  }
  if (!watch_jobs(*submission, study, lab, context.json)) {
    fmt::print(stderr, "the jobs continue; watch them with the same command, or end them: mneme cancel {} --jobs\n",
               selection_of(input, study));
    return static_cast<int>(ErrorKind::interrupted);
  }
  finished = results_in(study, lab);
  return std::nullopt;
}

}  // namespace mneme::cli
