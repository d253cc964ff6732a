// One run's directory: see docs/run-directory.md for every file in it. Reading here, writing in run_writer.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "core/json.h"

namespace mneme::store {

enum class RunState { fresh, running, interrupted, done, diverged, failed, cancelled };

std::string_view run_state_name(RunState state);

// Who trains the run, or did last: attempt.json.
struct Attempt {
  std::int64_t number = 0;  // 0: none yet
  std::int64_t deaths = 0;  // workers that died of this run
  std::string holder;       // for people
};

class RunDirectory {
 public:
  explicit RunDirectory(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path checkpoint() const { return path_ / "checkpoint.safetensors"; }
  // The checkpoint before the last one.
  Path previous_checkpoint() const { return path_ / "checkpoint.previous.safetensors"; }
  // The last steps by group of parameters (core/autopsy.h), of a run that has ended.
  Path autopsy() const { return path_ / "autopsy.safetensors"; }
  // A folder: STEP.safetensors for each step of train.keep.
  Path kept_weights() const { return path_ / "weights"; }
  // Locked by the attempt's worker for as long as it lives.
  Path alive(std::int64_t attempt) const { return path_ / ("alive." + std::to_string(attempt)); }

  // Makes the directory and config.json, durably; if they exist, checks that the configuration is the same.
  void create(const Json& config) const;

  // Throw Error(data) where a file is damaged.
  RunState state() const;
  Json config() const;
  std::optional<Json> summary() const;
  std::vector<Json> metrics() const;  // complete lines only
  Attempt attempt() const;
  bool has_checkpoint() const;
  std::vector<std::int64_t> kept_steps() const;  // whose weights are there, ascending
  // A failed run that will not be tried again by itself: it killed its worker too often.
  bool set_aside() const;
  std::vector<std::string> last_log_lines(std::size_t count) const;

 private:
  Path path_;
};

}  // namespace mneme::store
