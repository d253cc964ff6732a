// Many configurations in turn, as the points of a grid are.
//
// Most of them differ from the one before in options like the rate and the seed, from which nothing else of a run
// follows but other seeds. Such a run is the one before with a few values replaced: what resolve_run() gives, id and
// all.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace mneme::config {

class RunSeries {
 public:
  // Throws as resolve_run() does.
  RunConfig resolve(const ConfigValue& root);

 private:
  // Makes last_ the run of `root` by replacing values; false if that is not enough.
  bool follow(const ConfigValue& root);
  // What follow() needs to know of last_.
  void take_apart();

  RunResolver resolver_;
  ConfigValue root_{ConfigTable{}, ""};  // the configuration before
  RunConfig last_;                       // what came of it
  bool known_ = false, apart_ = false;
  std::vector<std::string> derived_;  // its seeds that follow from train.seed
  // Its canonical JSON: what comes before the members of "train", which is the last key, and these members.
  std::string beginning_;
  std::map<std::string, std::string, std::less<>> members_;
};

}  // namespace mneme::config
