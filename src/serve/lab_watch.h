// Which run directories have changed, found by looking: no file of a run is opened, none is written.
//
// Looking works wherever the lab is, also on a disk that other machines write to, where the kernel reports nothing. It
// is cheap because most of it is one stat() a run: files of a run that no one trains appear, vanish or are replaced,
// and all of that changes the directory's time. Only runs that are being trained grow a file in place. A round looks at
// those, and at a third of the others, so that nothing is overlooked for longer than three rounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/lab.h"

namespace mneme::serve {

class LabWatch {
 public:
  explicit LabWatch(store::Lab lab) : lab_(std::move(lab)) {}

  struct Round {
    std::vector<std::string> changed;  // also new ones
    std::vector<std::string> gone;
    bool studies = false;  // the records of studies have changed
    bool lab_is_gone = false;
  };

  // What has changed since the round before; in the first one everything has.
  Round look();

  // Says whether the run is being trained, after each reading of it.
  void mark(const std::string& run, bool trained);

 private:
  struct Seen {
    std::int64_t directory = 0;                  // times, in nanoseconds
    std::int64_t metrics = 0, metrics_size = 0;  // of a run that is being trained
    bool operator==(const Seen&) const = default;
  };

  // Notes the run as changed if it differs from what was seen; sees it.
  void look_at(int runs, const std::string& run, std::int64_t clock, Round& round);
  // Finds runs that have come and gone; returns the former.
  std::vector<std::string> list(Round& round);

  store::Lab lab_;
  std::unordered_map<std::string, Seen> seen_;
  std::unordered_set<std::string> trained_;
  std::vector<std::string> order_;  // the runs, for taking them in turns
  std::size_t turn_ = 0;
  std::int64_t runs_time_ = -1, studies_time_ = -1;
  int rounds_ = 0;
};

}  // namespace mneme::serve
