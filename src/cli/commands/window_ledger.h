// The runs that a search for a window has used: the lab's windows/ID.json.
//
// Runs that were in the lab before cost a search nothing. That a run is there says nothing of who paid for it, so
// the search writes down which ones it asked for: repeated or resumed, it has the rest of its budget and no new one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "store/lab.h"
#include "study/window_search.h"

namespace mneme::cli {

class WindowLedger {
 public:
  // The ledger of the search over these runs with this rule.
  WindowLedger(const store::Lab& lab, const std::vector<config::RunConfig>& grid, const study::WindowRule& rule);

  std::size_t spent() const { return paid_.size(); }
  // Written before the runs are started.
  void pay_for(const std::vector<config::RunConfig>& runs);

 private:
  Path file_;
  std::set<std::string> paid_;  // ids
};

// The validation accuracy of a run that has ended with a result; nothing for any other.
std::optional<double> result_on_disk(const store::RunDirectory& directory);

}  // namespace mneme::cli
