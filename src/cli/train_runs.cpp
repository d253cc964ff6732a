#include "cli/train_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "cli/keep_runs.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/kept_results.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

// By id, what became of the runs whose results are in the directory of `file`; they are added to `file` as well.
std::map<std::string, run::RunResult> take_kept(const Path& file, std::span<const config::RunConfig> runs) {
  std::vector<report::ResultRow> rows = report::kept_anywhere(file.parent_path(), runs);
  // A failure may be the machine's fault: it is tried again, as in a lab.
  std::erase_if(rows, [](const report::ResultRow& row) { return row.outcome != "done" && row.outcome != "diverged"; });
  if (rows.empty()) return {};
  report::keep_results(file, rows);
  std::map<std::string, run::RunResult> results;
  for (const report::ResultRow& row : rows)
    results[row.run] = {.state = row.outcome == "done" ? store::RunState::done : store::RunState::diverged,
                        .reason = row.reason,
                        .elsewhere = true,
                        .summary = row.values};
  print_note(fmt::format("{} of {} saved in {} and not trained again", results.size(), counted(runs.size(), "run"),
                         file.parent_path().string()));
  return results;
}

}  // namespace

int checked_jobs(std::int64_t given, bool was_given) {
  if (!was_given) return run::available_processors();
  constexpr std::int64_t kMost = 1024;
  if (given < 1 || given > kMost)
    throw Error(ErrorKind::usage, "--jobs",
                fmt::format("got {}, expected a number of workers from 1 to {}", given, kMost));
  return static_cast<int>(given);
}

FileAndOverrides sort_arguments(const std::vector<std::string>& arguments) {
  FileAndOverrides sorted;
  for (const std::string& argument : arguments) {
    if (argument.empty())
      throw Error(ErrorKind::usage, "", "got '', expected a file or an override like train.lr=1e-3");
    if (argument.find('=') != argument.npos) {
      sorted.overrides.push_back(argument);
    } else if (sorted.file.empty()) {
      sorted.file = argument;
    } else {
      throw Error(ErrorKind::usage, "",
                  fmt::format("got '{}' after the file '{}', expected one file and overrides like train.lr=1e-3",
                              argument, sorted.file));
    }
  }
  return sorted;
}

void tell_warnings(std::span<const config::RunConfig> runs) {
  std::map<std::string, std::size_t> counts;
  for (const config::RunConfig& run : runs)
    for (const std::string& warning : run.warnings) ++counts[warning];
  for (const auto& [warning, count] : counts)
    print_warning(count == 1 ? warning : fmt::format("{} ({} runs)", warning, count));
}

double parse_duration(std::string_view text, std::string_view where) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  static const std::map<std::string, double, std::less<>> units{{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  const auto known = units.find(unit);
  if (code != std::errc() || known == units.end() || !(number > 0) || !std::isfinite(number))
    throw Error(ErrorKind::usage, where, fmt::format("got '{}', expected a time like 90s, 10m or 1.5h", text));
  return number * known->second;
}

void check_limits(const TrainLimits& limits) {
  if (limits.max_runs < 0)
    throw Error(ErrorKind::usage, "--max-runs", fmt::format("got {}, expected 0 (all) or more", limits.max_runs));
  if (!limits.max_time.empty()) parse_duration(limits.max_time, "--max-time");
}

run::ExecutionResult train_runs(std::span<const config::RunConfig> runs, const Context& context, int jobs,
                                report::RunLabels labels, const TrainLimits& limits) {
  run::ExecutorOptions options;
  options.jobs = jobs;
  options.attempts = kAttempts;
  check_limits(limits);
  if (limits.max_runs > 0) options.max_runs = limits.max_runs;
  if (!limits.max_time.empty()) options.max_seconds = parse_duration(limits.max_time, "--max-time");
  if (const char* lease = std::getenv("MNEME_LEASE"); lease && *lease)
    options.lease = parse_duration(lease, "MNEME_LEASE");
  const store::Lab lab = context.lab();
  options.worker = run::find_worker();
  lab.create();
  std::map<std::string, run::RunResult> kept;
  if (!limits.keep.empty() && !limits.code.same_code) kept = take_kept(limits.keep, runs);
  std::vector<config::RunConfig> left;
  std::vector<std::string> ids;
  for (const config::RunConfig& run : runs) {
    if (kept.contains(run.id)) continue;
    left.push_back(run);
    ids.push_back(run.id);
  }
  reckon_with_other_code(ids, lab, limits.code);
  store::Index index = open_index(lab);
  auto progress = context.json ? make_quiet_progress() : make_progress(left, std::move(labels));
  if (!limits.keep.empty()) progress = make_keeping_observer(std::move(progress), lab, limits.keep);
  run::ExecutionResult result = run::execute(left, lab, &index, options, *progress);
  std::vector<run::RunResult> trained = std::move(result.runs);
  result.runs.clear();
  for (auto next = trained.begin(); const config::RunConfig& run : runs)
    result.runs.push_back(kept.contains(run.id) ? kept.at(run.id) : std::move(*next++));
  return result;
}

int exit_code_of(const run::ExecutionResult& result) {
  if (result.interrupted) return static_cast<int>(ErrorKind::interrupted);
  if (!result.stopped.empty()) return static_cast<int>(ErrorKind::io);
  for (const run::RunResult& run : result.runs)
    if (run.state == store::RunState::failed)
      return static_cast<int>(result.runs.size() == 1 ? run.kind : ErrorKind::runs_failed);
  return 0;
}

Json result_json(const config::RunConfig& run, const run::RunResult& result, const store::Lab& lab) {
  return {{"id", run.id},
          {"state", store::run_state_name(result.state)},
          {"reason", result.reason},
          {"already", result.elsewhere},
          {"directory", lab.run(run.id).path().string()},
          {"config", run.json()},
          {"warnings", run.warnings},
          {"summary", result.summary}};
}

}  // namespace mneme::cli
