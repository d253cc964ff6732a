#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/old_names.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "cluster/slurm_settings.h"
#include "core/error.h"
#include "core/text.h"
#include "study/run_filters.h"

namespace mneme::cli {

const std::vector<Command>& command_list() {
  static const std::vector<Command> list = {
      {"demo", "run a small learning-rate study and draw its figure, in a few minutes", add_demo},
      {"train", "train one model", add_train},
      {"plan", "show the grid of a study and estimate its cost", add_plan},
      {"sweep", "train all missing runs of a study", add_sweep},
      {"window", "find the learning rates at which a mixer can be trained, with few runs", add_window},
      {"card", "test what a mixer can remember, with a fixed battery of small tasks", add_card},
      {"status", "show studies, running workers and failures in this lab", add_status},
      {"serve", "show the lab in a browser, live", add_serve},
      {"reproduce", "run and judge the figures, tables and claims of the papers", add_reproduce},
      {"report", "draw the figures, tables and page of a study", add_report},
      {"runs", "list, filter and sort runs", add_runs},
      {"show", "show a run, a mixer or a task in detail", add_show},
      {"plot", "plot the curves of several runs on the same axes", add_plot},
      {"inspect", "analyse what a trained model does: mixing matrices, spectra, gradients by lag", add_inspect},
      {"diff", "compare two runs: configuration, results, first step where they diverge", add_diff},
      {"evaluate", "test trained runs on other data: longer, more pairs, along any axis of the task", add_evaluate},
      {"export", "export runs as CSV, JSON lines, TensorBoard events or weights", add_export},
      {"tag", "tag runs, to find and select them again", add_tag},
      {"note", "write a note on a run", add_note},
      {"retry", "let failed and cancelled runs run again", add_retry},
      {"cancel", "cancel runs that are waiting or running", add_cancel},
      {"rm", "move runs to the lab's trash", add_rm},
      {"list", "list mixers, tasks, studies or claims", add_list},
      {"sample", "print examples of a task", add_sample},
      {"check", "run the conformance checks on a mixer", add_check},
      {"verify", "compare mixers with golden cases from the original implementations", add_verify},
      {"bench", "measure training speed and compare it with this machine's matrix multiplication", add_bench},
      {"doctor", "check this machine and the lab's disk and database", add_doctor},
      {"node", "train runs of a submitted study on a cluster node (Slurm jobs call this)", add_node},
      {"reindex", "rebuild the index from the run directories", add_reindex},
  };
  return list;
}

store::Lab Context::lab() const {
  store::Lab lab = store::choose_lab(lab_option, leases_option);
  // Its leases are in a database that only the site's profile names.
  if (std::error_code missing; lab.leases_address().empty() && std::filesystem::exists(lab.leases_id(), missing))
    lab = store::Lab(lab.root(), cluster::load_slurm_settings(lab).leases);
  if (!std::exchange(old_names_noted, true))
    for (const std::string& note : notes_on_old_names(lab, leases_option)) print_note(note);
  return lab;
}

void add_common_options(CLI::App& app, Context& context) {
  app.add_option("--lab", context.lab_option, "lab directory (default: MNEME_LAB, else ./lab)")->type_name("DIR");
  app.add_option("--leases", context.leases_option,
                 "PostgreSQL URL for run leases when several machines share a lab (default: MNEME_LEASES, else "
                 "slurm.toml, else a file in the lab)")
      ->type_name("URL");
  add_old_options(app, context);
  app.add_flag("--json", context.json, "print one JSON document on standard output");
}

void add_examples(CLI::App& app, std::string_view examples) {
  app.footer(fmt::format("Examples:\n{}\n\nExit codes: docs/exit-codes.md", examples));
}

store::Index open_index(const store::Lab& lab) {
  store::Index index = store::Index::open(lab);
  for (const std::string& notice : index.notices()) print_note(notice);
  for (const std::string& damage : index.damaged()) print_warning("damaged run: " + damage);
  return index;
}

void print_json(const Json& value) {
  const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_note(std::string_view text) { fmt::print(stderr, "{}\n", fit_message("mneme: note: " + harmless(text))); }

void print_warning(std::string_view text) {
  const std::string message = fit_message("mneme: warning: " + harmless(text));
  constexpr std::string_view kHead = "mneme: warning:";
  fmt::print(stderr, "{}{}\n", paint(kHead, Color::yellow, terminal_of(stderr)), message.substr(kHead.size()));
}

std::string find_run_id(store::Index& index, std::string_view prefix) {
  constexpr std::int64_t kShown = 5;
  const auto ids = index.ids_with_prefix(prefix, kShown + 1);
  if (prefix.empty() || ids.empty())
    throw Error(ErrorKind::usage, "run", fmt::format("no run starts with '{}'; `mneme runs` lists them", prefix));
  if (ids.size() > 1) {
    std::vector<std::string> shown(ids.begin(), ids.begin() + std::min<std::ptrdiff_t>(kShown, std::ssize(ids)));
    throw Error(ErrorKind::usage, "run",
                fmt::format("several runs start with '{}' ({}{}); give more digits", prefix, join(shown, ", "),
                            std::ssize(ids) > kShown ? ", ..." : ""));
  }
  return ids.front();
}

store::RunRecord find_record(store::Index& index, std::string_view id) {
  if (auto record = index.find(id)) return *std::move(record);
  throw Error(ErrorKind::data, fmt::format("run {}", id),
              "was removed while this command worked; nothing is left of it");
}

std::vector<std::string> find_run_ids(store::Index& index, const std::vector<std::string>& prefixes_and_filters) {
  std::vector<std::string> ids;
  store::RunQuery query;
  for (const std::string& text : prefixes_and_filters) {
    if (text.find_first_of("=<>") == text.npos)
      ids.push_back(find_run_id(index, text));
    else
      query.filters.push_back(study::parse_filter(text));
  }
  if (!query.filters.empty())
    for (const store::RunRecord& record : index.query(query)) ids.push_back(record.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace mneme::cli
