#include "cli/commands/window_ledger.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/hash.h"

namespace mneme::cli {

WindowLedger::WindowLedger(const store::Lab& lab, const std::vector<config::RunConfig>& grid,
                           const study::WindowRule& rule) {
  std::string search = fmt::format("{} {}", rule.threshold, rule.share);
  for (const config::RunConfig& run : grid) search += " " + run.id;
  file_ = lab.root() / "windows" / (sha256_hex(search).substr(0, 12) + ".json");
  try {
    if (std::filesystem::exists(file_))
      paid_ = parse_json(read_file(file_), file_.string()).at("paid").get<std::set<std::string>>();
  } catch (const std::exception&) {
    // Without its ledger a search has its whole budget: at worst it trains some runs more.
  }
}

void WindowLedger::pay_for(const std::vector<config::RunConfig>& runs) {
  for (const config::RunConfig& run : runs) paid_.insert(run.id);
  file_system().create_directories(file_.parent_path());
  write_file_atomically(file_, Json{{"paid", paid_}}.dump() + "\n");
}

std::optional<double> result_on_disk(const store::RunDirectory& directory) {
  try {
    const store::RunState state = directory.state();
    if (state != store::RunState::done && state != store::RunState::diverged) return std::nullopt;
    const Json summary = directory.summary().value_or(Json::object());
    const Json::json_pointer at("/values/validation/accuracy");
    return summary.contains(at) && summary.at(at).is_number() ? summary.at(at).get<double>() : 0.0;
  } catch (const Error&) {
    // Damaged: it is trained again like one that is not there.
    return std::nullopt;
  }
}

}  // namespace mneme::cli
