// One run's directory: see docs/run-directory.md for every file in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "core/json.h"

namespace mneme {

enum class RunState { fresh, running, interrupted, done, diverged, failed };

std::string_view run_state_name(RunState state);

class RunDirectory {
 public:
  explicit RunDirectory(Path path) : path_(std::move(path)) {}

  const Path& path() const { return path_; }
  Path checkpoint() const { return path_ / "checkpoint.safetensors"; }

  // Makes the directory and config.json; if they exist, checks that the configuration is the same.
  void create(const Json& config) const;

  // Takes the lock for this process until the object dies; throws Error(io) if another holds it.
  class Lock {
   public:
    explicit Lock(int descriptor) : descriptor_(descriptor) {}
    ~Lock();
    Lock(Lock&& other) noexcept;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    int descriptor_;
  };
  [[nodiscard]] Lock lock() const;

  void write_environment(const Json& environment) const;
  void write_summary(const Json& summary) const;
  void remove_summary() const;
  void append_metric(const Json& metric) const;
  // Drops the metrics of later steps and a torn last line.
  void keep_metrics_until(std::int64_t step) const;
  // One line with the time in front; a failing disk does not stop a run over its log.
  void log(std::string_view line) const noexcept;

  RunState state() const;
  Json config() const;  // throws Error(data) if missing or damaged
  std::optional<Json> summary() const;
  std::vector<Json> metrics() const;  // complete lines only

 private:
  Path path_;
};

}  // namespace mneme
