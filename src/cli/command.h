// What every command of `mneme` shares.
//
// A command is one file with one function add_NAME(app, context) that declares its options, its help
// with an example, and sets context.action; commands.cpp is the one list of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "store/index.h"
#include "store/lab.h"

namespace CLI {
class App;
}

namespace mneme::cli {

struct Context {
  std::string lab_option, leases_option;
  bool json = false;
  mutable bool old_names_noted = false;
  std::function<int()> action;  // what the chosen command does; returns the exit code

  // Notes old names in use (old_names.h) on standard error, once.
  store::Lab lab() const;
};

struct Command {
  const char* name;
  const char* summary;
  void (*add)(CLI::App& app, Context& context);
};

const std::vector<Command>& command_list();

// Adds --lab, --leases and --json.
void add_common_options(CLI::App& app, Context& context);
// Shown under the options in --help.
void add_examples(CLI::App& app, std::string_view examples);

// The lab's index; prints its notices on standard error.
store::Index open_index(const store::Lab& lab);

// One document on standard output.
void print_json(const Json& value);
// "mneme: note: ..." and "mneme: warning: ..." on standard error.
void print_note(std::string_view text);
void print_warning(std::string_view text);

// The id of the one run that starts with `prefix`; throws Error(usage) if none or several do.
std::string find_run_id(store::Index& index, std::string_view prefix);
// What the index has of a run. Throws Error(data) if another command has removed the run since its id was found.
store::RunRecord find_record(store::Index& index, std::string_view id);

// The ids of the runs that filters or first digits of ids select, each once. Throws Error(usage).
std::vector<std::string> find_run_ids(store::Index& index, const std::vector<std::string>& prefixes_and_filters);

void add_bench(CLI::App& app, Context& context);
void add_cancel(CLI::App& app, Context& context);
void add_card(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_demo(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_evaluate(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_note(CLI::App& app, Context& context);
void add_node(CLI::App& app, Context& context);
void add_plot(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_reindex(CLI::App& app, Context& context);
void add_reproduce(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_retry(CLI::App& app, Context& context);
void add_rm(CLI::App& app, Context& context);
void add_runs(CLI::App& app, Context& context);
void add_sample(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_sweep(CLI::App& app, Context& context);
void add_tag(CLI::App& app, Context& context);
void add_train(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_window(CLI::App& app, Context& context);

}  // namespace mneme::cli
