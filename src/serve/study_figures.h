// The figures and claims of one study, remade when a result has come.
//
// They are not made sooner than twenty times as long as making them took after the last time: a page that is open costs
// a sweep at most a twentieth of one core, and in practice nothing between two results. Those of a small study are
// there at once. Those of a large one would hold up every other request for seconds: its runs are gathered in portions
// between requests, and a thread of its own makes the figures of them.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/pages/study_report.h"
#include "serve/lab_view.h"
#include "study/study.h"

namespace mneme::serve {

// How long to wait before remaking a figure, as a multiple of the time that making it took.
inline constexpr int kPauseFactor = 20;
// Runs of a study whose figures are made at once.
inline constexpr std::size_t kDrawnAtOnce = 500;

class StudyFigures {
 public:
  // Brings the figures up to date, or begins to, or puts it off.
  void update(const StudyView& study, LabView& view, std::size_t at_once);
  // Gathers a portion of the runs of a large study, if any are due; true if more are.
  bool gather_more(LabView& view);
  // True once after the figures may be requested again: a thread has made them, or the time has come to which they were
  // put off.
  bool came_due();

  const Json& figures() const { return shown_.figures; }
  const Json& claims() const { return shown_.claims; }
  const std::string& trouble() const { return shown_.trouble; }
  bool is_pending() const { return gathering_ || made_.valid(); }
  // Nothing if the study's file is not known here, or has changed since the sweep.
  const study::Study* opened() const { return opened_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Shown {
    Json figures = Json::array(), claims = Json::array();
    std::string trouble;
    Clock::duration spent{};
  };
  // What figures are made of, as far as it was gathered.
  struct Gathering {
    std::vector<std::string> runs;
    std::size_t next = 0;
    std::vector<report::ResultRow> rows;
    report::ReportSubject subject;
    std::shared_ptr<const study::Study> study;
    Clock::duration spent{};
    config::RunResolver resolver;
  };

  void open(const report::StudyRecord& record);
  void begin(const StudyView& study);
  void gather(LabView& view, std::size_t portion);
  static Shown make(Gathering gathered);
  void show(Shown made);

  std::shared_ptr<const study::Study> opened_;
  std::vector<std::string> opened_for_;  // the runs that it was opened for
  std::uint64_t results_ = 0;            // StudyView::results that are shown or being drawn
  bool drawn_ = false, put_off_ = false;
  Clock::time_point next_{};
  std::optional<Gathering> gathering_;
  std::future<Shown> made_;
  Shown shown_;
};

}  // namespace mneme::serve
