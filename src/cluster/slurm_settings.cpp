#include "cluster/slurm_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "core/config.h"
#include "core/error.h"
#include "core/schema.h"
#include "core/text.h"

namespace mneme::cluster {
namespace {

constexpr double kMostNodes = 100'000, kMostWorkers = 1024, kMostSeconds = 86'400;

const Schema& schema() {
  static const Schema fields = {
      integer_field("nodes", 1, 1, kMostNodes, "tasks of the array, each on one node"),
      integer_field("workers_per_node", 1, 1, kMostWorkers, "single-threaded workers of each node"),
      text_field("time", "", "time limit of a job, as Slurm writes it"),
      text_field("partition", "", "partition"),
      text_field("account", "", "account"),
      texts_field("sbatch", Json::array(), "more options of sbatch"),
      texts_field("setup", Json::array(), "lines of shell before the work"),
      integer_field("memory_mb", 0, 0, kUnlimited, "megabytes of a node; 0: from the measured estimate"),
      integer_field("warning_seconds", 120, 1, kMostSeconds, "seconds before the time limit at which workers leave"),
      integer_field("requeues", 50, 0, 10'000, "how often a task may be requeued"),
      text_field("leases", "", "PostgreSQL URL"),
      text_field("stage", "", "directory on the node's disk"),
      flag_field("shared", false, "the lab's directory is the same on every node"),
  };
  return fields;
}

Path users_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && *config) return Path(config) / "mneme" / "slurm.toml";
  return home && *home ? Path(home) / ".config" / "mneme" / "slurm.toml" : Path();
}

std::int64_t number(std::string_view text, std::string_view whole, std::string_view where) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    throw Error(ErrorKind::usage, where,
                fmt::format("got '{}', expected a time as Slurm writes it: 30 (minutes), 4:00:00, 1-12:00:00", whole));
  return value;
}

}  // namespace

SlurmSettings load_slurm_settings(const store::Lab& lab) {
  ConfigValue values{ConfigTable{}, ""};
  std::error_code ignored;
  for (const Path& file : {users_file(), lab.root() / "slurm.toml"})
    if (!file.empty() && std::filesystem::exists(file, ignored)) values = merged(std::move(values), load_toml(file));
  const Options read = resolve(schema(), &values, "slurm.toml");
  SlurmSettings settings{.nodes = read.integer("nodes"),
                         .workers = read.integer("workers_per_node"),
                         .time = read.text("time"),
                         .partition = read.text("partition"),
                         .account = read.text("account"),
                         .sbatch = read.texts("sbatch"),
                         .setup = read.texts("setup"),
                         .memory = read.integer("memory_mb"),
                         .warning = read.integer("warning_seconds"),
                         .requeues = read.integer("requeues"),
                         .leases = read.text("leases"),
                         .stage = read.text("stage"),
                         .shared = read.flag("shared")};
  if (!settings.time.empty()) parse_slurm_time(settings.time, "slurm.toml: time");
  return settings;
}

double parse_slurm_time(std::string_view text, std::string_view where) {
  const std::size_t dash = text.find('-');
  double days = 0;
  std::string_view rest = text;
  if (dash != text.npos) {
    days = static_cast<double>(number(text.substr(0, dash), text, where));
    rest = text.substr(dash + 1);
  }
  std::vector<double> parts;
  for (const std::string& part : split(rest, ':')) parts.push_back(static_cast<double>(number(part, text, where)));
  // With days the first part is hours; without, one or two parts are minutes and seconds.
  double seconds = 0;
  if (parts.size() > 3) number("", text, where);
  if (dash != text.npos || parts.size() == 3) {
    parts.resize(3, 0);
    seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
  } else {
    parts.resize(2, 0);
    seconds = parts[0] * 60 + parts[1];
  }
  return days * 86'400 + seconds;
}

void check_settings(const SlurmSettings& settings) {
  const auto check = [](const char* name, std::int64_t value, double most) {
    if (value < 1 || static_cast<double>(value) > most)
      throw Error(ErrorKind::usage, name, fmt::format("got {}, expected an integer from 1 to {:.0f}", value, most));
  };
  check("--nodes", settings.nodes, kMostNodes);
  check("--workers-per-node", settings.workers, kMostWorkers);
  if (settings.time.empty()) return;
  const double limit = parse_slurm_time(settings.time, "--time");
  if (limit < 2 * static_cast<double>(settings.warning))
    throw Error(ErrorKind::usage, "--time",
                fmt::format("got {}, expected at least twice the {} s before the limit at which workers leave "
                            "(warning_seconds in slurm.toml)",
                            settings.time, settings.warning));
}

}  // namespace mneme::cluster
