// The lab as the dashboard sees it: a picture in memory that follows the disk. It reads, and writes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "config/run_config.h"
#include "report/pages/study_record.h"
#include "serve/field_table.h"
#include "serve/lab_watch.h"
#include "store/index.h"

namespace mneme::serve {

// A run without its texts, so that ten thousand are counted in a millisecond.
struct RunBrief {
  store::RunState state = store::RunState::fresh;
  std::string mixer, task, reason;
  std::string tags, note;  // of people; tags with spaces between them
  double lr = 0, seconds = 0;
  std::int64_t seed = 0, steps = 0, changed = 0;
  std::int64_t looked_into = 0;  // when `mneme inspect` or `evaluate` last wrote of it; 0: never
  std::optional<double> validation, test;

  // Test accuracy, or the last on validation.
  std::optional<double> accuracy() const { return test ? test : validation; }
  bool is_result() const;  // done, diverged or failed
  bool operator==(const RunBrief&) const = default;
};

// What follows from a run's configuration.
struct RunFacts {
  std::int64_t budget = 0;           // steps
  std::int64_t tokens_per_step = 0;  // of training
  double flops_per_step = 0;         // useful, forward and backward
};

// A study and how often its results have changed.
struct StudyView {
  report::StudyRecord record;
  std::uint64_t results = 0;  // grows when a run of it ends, or a result is taken back
};

struct Changes {
  std::vector<std::string> runs;
  std::vector<std::string> studies;  // keys
  bool other = false;                // trouble came or went
  bool papers = false;               // figures of the papers were judged
  bool any() const { return other || papers || !runs.empty() || !studies.empty(); }
};

// For one thread at a time.
class LabView {
 public:
  // Throws Error(data) if there is no lab. It begins with what index.db says; the runs that are not in it are unread.
  explicit LabView(store::Lab lab);

  // Reads a portion of the unread runs, some hundredths of a second of work.
  Changes read_more();
  void read_all();
  // Reads this one now, if it is unread.
  void read_now(const std::string& run);
  bool is_unread(const std::string& run) const { return !unread_.empty() && unread_.contains(run); }
  std::size_t unread() const { return unread_.size(); }
  // All that were unread at the beginning.
  std::size_t to_read() const { return to_read_; }

  // Looks at the disk. A run directory that cannot be read, or a lab that is gone, is trouble to be told, not an error.
  Changes poll();

  std::uint64_t generation() const { return generation_; }
  // Changes that are not on the disk also make answers new.
  void next_generation() { ++generation_; }

  const store::Lab& lab() const { return lab_; }
  store::Index& index() { return index_; }
  const std::unordered_map<std::string, RunBrief>& runs() const { return runs_; }
  const RunBrief* find(const std::string& run) const;
  const std::map<std::string, StudyView>& studies() const { return studies_; }
  const StudyView* study(const std::string& key) const;
  // The studies that a run is in, by key.
  std::vector<std::string> studies_of(const std::string& run) const;

  // All configurations; read at the first call.
  FieldTable& fields();
  // Grows when a run comes or goes: what was computed from all configurations is then out of date.
  std::uint64_t population() const { return population_; }
  // Nothing for a configuration that this version cannot read.
  std::optional<RunFacts> facts(const std::string& run);

  // Why the picture is not what is on the disk: "" if it is.
  const std::string& trouble() const { return trouble_; }
  // True if that is new.
  bool tell_trouble(const std::string& text);
  std::vector<std::string> damaged() const;

 private:
  void read(const std::vector<std::string>& runs, Changes& changes);
  // What the index says of it now.
  void take(const std::string& run, Changes& changes);
  void name_studies(Changes& changes) const;
  void forget(const std::string& run, Changes& changes);
  void note_results(const std::string& run);
  void read_studies(Changes& changes);

  store::Lab lab_;
  LabWatch watch_;
  store::Index index_;
  std::unordered_map<std::string, RunBrief> runs_;
  std::map<std::string, StudyView> studies_;
  std::unordered_map<std::string, std::vector<StudyView*>> of_run_;
  std::map<std::string, std::string> damaged_;  // run -> why
  std::unordered_set<std::string> unread_;
  std::vector<std::string> queue_;  // of the unread ones, from the back; some may have been read meanwhile
  std::size_t to_read_ = 0;
  std::optional<FieldTable> fields_;
  std::unordered_map<std::string, std::optional<RunFacts>> facts_;
  config::RunResolver resolver_;
  std::string trouble_;
  std::uint64_t generation_ = 1, population_ = 1;
};

}  // namespace mneme::serve
