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
#include "study/study.h"

namespace mneme::serve {

inline constexpr int kApiVersion = 1;
// How long a figure is not made again, in times of what making it took.
inline constexpr int kPauseFactor = 20;
// Figures of more runs than this would hold up everybody else: `mneme report` draws them.
inline constexpr std::size_t kMostDrawnRuns = 2000;

inline Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

class Api {
 public:
  // `results`: a directory of kept results, for figures of the papers whose runs the lab has not; "": none.
  Api(LabView& view, Path results);
  ~Api();

  // The answer to a request whose path begins with api, v1. Every error is an answer.
  Answer answer(const Request& request);

  // A part of what is computed ahead (the state of a figure of the papers), if anything is due; false if not. A part
  // takes less than a second. After one that changed an answer the generation has grown.
  bool work_ahead();
  // Keys of studies whose figures may be drawn anew since their last drawing was put off (see Drawn).
  std::vector<std::string> due_studies();

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
  // Figures and claims of a study. They are made anew when a result has come, but not sooner than twenty times as long
  // as it took after the last time: a page that is open costs a sweep at most a twentieth of one core, and in practice
  // nothing between two results.
  struct Drawn {
    std::optional<study::Study> opened;   // nothing if its file is not known here, or has changed
    std::vector<std::string> opened_for;  // the runs that it was opened for
    std::uint64_t results = 0;            // StudyView::results that it shows
    bool drawn = false, put_off = false;
    std::chrono::steady_clock::time_point next{};
    Json figures = Json::array(), claims = Json::array();
    std::string trouble;
  };
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
  Drawn& draw(const StudyView& study);
  const study::Study* opened(const StudyView& study, Drawn& drawn) const;
  Json cells_of(const StudyView& study, const Drawn& drawn, Json& axes, Json& best);
  Json cost_of(const StudyView& study, const Drawn& drawn);
  Json curve_rows(const std::string& id, std::int64_t from);
  std::string default_scale(const report::Reproduction& item) const;
  Judged& judge(const report::Reproduction& item, const std::string& scale, bool whole);
  // At its default scale. What cannot be judged, because a file is damaged, says so.
  Json judged_summary(const report::Reproduction& item);

  LabView& view_;
  Path results_;
  std::map<std::string, Drawn> drawn_;
  std::map<std::string, Judged> judged_;  // "A.fig1 laptop"
  std::size_t next_item_ = 0;             // of work_ahead
  Columns columns_;
};

}  // namespace mneme::serve
