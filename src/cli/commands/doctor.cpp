#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "cluster/doctor.h"
#include "cluster/slurm_settings.h"
#include "core/error.h"

namespace mneme::cli {
namespace {

int doctor(const Context& context) {
  using cluster::Verdict;
  const store::Lab given = context.lab();
  const cluster::SlurmSettings settings = cluster::load_slurm_settings(given);
  // Jobs take the profile's database where no other is given.
  const std::string address = given.leases_address().empty() ? settings.leases : given.leases_address();
  std::vector<cluster::Finding> findings = cluster::examine_disk(given.root());
  const store::Lab lab(given.root(), address);
  for (const auto& examine :
       {cluster::examine_worker(), cluster::examine_database(lab), cluster::examine_slurm(lab, settings)})
    findings.insert(findings.end(), examine.begin(), examine.end());
  int bad = 0;
  Json list = Json::array();
  for (const cluster::Finding& finding : findings) {
    bad += finding.verdict == Verdict::bad ? 1 : 0;
    list.push_back(
        {{"subject", finding.subject}, {"verdict", cluster::verdict_name(finding.verdict)}, {"text", finding.text}});
    if (context.json) continue;
    const Color color = finding.verdict == Verdict::good       ? Color::green
                        : finding.verdict == Verdict::doubtful ? Color::yellow
                                                               : Color::red;
    fmt::print("{} {:<12} {}\n",
               paint(fmt::format("{:<8}", cluster::verdict_name(finding.verdict)), color, terminal_of(stdout)),
               finding.subject, harmless(finding.text));
  }
  if (context.json)
    print_json({{"lab", lab.root().string()}, {"findings", list}, {"failed", bad}});
  else
    fmt::print("{}\n", bad == 0 ? "everything that Mneme needs is here" : "repair what FAILED first");
  return bad == 0 ? 0 : static_cast<int>(ErrorKind::io);
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  app.callback([&context] { context.action = [&context] { return doctor(context); }; });
  add_examples(app,
               "  mneme doctor --lab /shared/lab\n  mneme doctor --leases postgresql://db/mneme\n"
               "  srun -l -N 4 mneme doctor --lab /shared/lab");
}

}  // namespace mneme::cli
