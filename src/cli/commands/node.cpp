// What a job of `mneme sweep --executor slurm` runs on its node.
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/command.h"
#include "cli/train_runs.h"
#include "cluster/node_work.h"
#include "core/error.h"

namespace mneme::cli {
namespace {

int node(const std::string& directory, const Context& context) {
  double lease = run::ExecutorOptions().lease;
  if (const char* given = std::getenv("MNEME_LEASE"); given && *given) lease = parse_duration(given, "MNEME_LEASE");
  const store::Lab lab = context.lab();
  lab.require();
  return cluster::work_on_node(cluster::read_submission(directory), lab, lease);
}

}  // namespace

void add_node(CLI::App& app, Context& context) {
  auto directory = std::make_shared<std::string>();
  app.add_option("directory", *directory, "a submission: a directory in the lab's jobs/")->required()->type_name("DIR");
  app.callback([directory, &context] { context.action = [directory, &context] { return node(*directory, context); }; });
  add_examples(app, "  mneme node lab/jobs/demo-20261118-072501 --lab lab");
}

}  // namespace mneme::cli
