// The answers of /api/v1, from a picture of the lab (docs/serve.md). For one thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "report/claims/reproductions.h"
#include "serve/answer.h"
#include "serve/lab_view.h"
#include "serve/request.h"
#include "serve/study_figures.h"

namespace mneme::serve {

inline constexpr int kApiVersion = 1;
inline Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

class Api {
 public:
  // `results`: a directory of kept results, for figures of the papers whose runs the lab does not have; "": none.
  // The figures of a study with more runs than `drawn_at_once` come later (StudyFigures).
  Api(LabView& view, Path results, std::size_t drawn_at_once = kDrawnAtOnce);
  ~Api();

  // The answer to a request whose path begins with api, v1. Every error is an answer.
  Answer answer(const Request& request);

  // A part of what is computed ahead (the state of a figure of the papers), if anything is due; false if not. A part
  // takes less than a second. After one that changed an answer the generation has grown.
  bool work_ahead();
  // Keys of studies whose figures have come or may be drawn anew.
  std::vector<std::string> due_studies();
  // A portion of the runs of large studies whose figures were asked for; true if there are more.
  bool gather_more();

  // For the export.
  Json lab();
  Json study(const std::string& key);
  // Of all runs that match, or of those among `only`.
  Json runs(const std::vector<std::string>& filters, const std::optional<std::vector<std::string>>& only = {});
  Json run(const std::string& id);
  Json curves(const std::string& id, std::int64_t from = -1);
  Json compare(const std::vector<std::string>& ids);
  Json papers();
  Json paper(const std::string& item, std::string scale);

 private:
  // An item of a paper at a scale.
  struct Judged {
    std::uint64_t results = 0;
    std::int64_t kept_time = 0;
    bool done = false;
    std::chrono::steady_clock::time_point next{};
    Json summary, whole;
  };

  // The columns of the table of runs; the fields are those of the configuration that differ in the lab.
  struct Columns {
    std::uint64_t population = 0;
    Json columns;
    std::vector<FieldTable::Field> fields;
  };

  Json begin() const;  // {"api", "generation"}
  const Columns& columns();
  Json counts_of(const StudyView& study) const;
  Json workers();
  Json recent() const;
  std::optional<double> seconds_left(const StudyView& study);
  Json cells_of(const StudyView& study, const StudyFigures& drawn, Json& axes, Json& best);
  Json cost_of(const StudyView& study, const StudyFigures& drawn);
  Json curve_rows(const std::string& id, std::int64_t from);
  std::string default_scale(const report::Reproduction& item) const;
  Judged& judge(const report::Reproduction& item, const std::string& scale, bool whole);
  // At its default scale. What cannot be judged, because a file is damaged, says so.
  Json judged_summary(const report::Reproduction& item);

  LabView& view_;
  Path results_;
  std::size_t drawn_at_once_;
  std::map<std::string, StudyFigures> drawn_;
  std::map<std::string, Judged> judged_;  // "A.fig1 laptop"
  std::size_t next_item_ = 0;             // of work_ahead
  Columns columns_;
};

}  // namespace mneme::serve
