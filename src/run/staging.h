// Training on this machine's own disk, for a lab on a shared disk whose locks do not work.
//
// A run's directory is copied here, trained here, and moved to the lab as a whole when its worker has ended. Nobody
// writes a part of a run's directory in the lab, so no lock is needed there; who may replace it is decided by the
// lease, which is held fast while the directory is put in place.
#pragma once

#include <functional>
#include <string>

#include "store/lab.h"

namespace mneme::run {

class Staging {
 public:
  // Carries out an action while the run's lease is held fast; false if it is not ours.
  using WhileHeld = std::function<bool(const std::function<void()>& action)>;

  // `root` is a directory of this machine, made if it is missing; what is in it belongs to this process.
  Staging(Path root, const store::Lab& lab);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  store::RunDirectory directory(const std::string& run) const { return store::RunDirectory(root_ / run); }

  // Copies what the lab has of the run: its checkpoint and its curve.
  void fetch(const std::string& run) const;
  // Replaces the lab's directory by ours, which is gone afterwards. False, and nothing is changed in the lab, if the
  // lease is not ours or the lab has a newer attempt. Throws Error(io) if it cannot be copied.
  bool publish(const std::string& run, std::int64_t attempt, const WhileHeld& while_held) const;

 private:
  Path root_;
  const store::Lab& lab_;
};

}  // namespace mneme::run
