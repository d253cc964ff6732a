#include "serve/study_figures.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "report/pages/study_files.h"
#include "serve/figure_json.h"

namespace mneme::serve {
namespace {

// A grid of many thousands takes more memory opened than the whole lab; without it the record and the runs say enough.
constexpr std::size_t kMostOpenedRuns = 4000;
constexpr std::size_t kGatheredAtOnce = 64;  // runs that are gathered between two questions

// A record is a file that anybody may have written: only what can be a study's name is looked for.
bool is_study_name(std::string_view name) {
  return !name.empty() && name.find("..") == name.npos && !name.starts_with('/') && !name.ends_with(".toml") &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.") == name.npos;
}

// As a study would say it, from the runs alone.
report::ReportSubject subject_of_record(const report::StudyRecord& record) {
  report::ReportSubject subject{.name = record.key,
                                .title = record.title,
                                .scale = record.scale,
                                .figures = {},
                                .chance = {},
                                .planned = record.runs.size(),
                                .paper = {},
                                .environments = {}};
  std::vector<ConfigValue> figures;
  for (const Json& figure : record.figures) figures.push_back(config_from_json(figure, record.key));
  subject.figures = report::figure_requests(figures);
  return subject;
}

}  // namespace

void StudyFigures::open(const report::StudyRecord& record) {
  if (opened_for_ == record.runs) return;
  opened_for_ = record.runs;
  opened_.reset();
  if (!is_study_name(record.name) || record.runs.size() > kMostOpenedRuns) return;
  try {
    const std::string scale = record.scale.empty() ? std::string(study::kUnscaled) : record.scale;
    auto found = std::make_shared<study::Study>(report::open_study(record.name, {scale, record.overrides}));
    std::set<std::string> planned(record.runs.begin(), record.runs.end()), ids;
    for (const config::RunConfig& run : found->runs) ids.insert(run.id);
    // Swept from another file of that name, or before the file was changed.
    if (ids == planned) opened_ = std::move(found);
  } catch (const Error&) {
    // A study of somebody's own file: the record and the runs say enough.
  }
}

void StudyFigures::begin(const StudyView& study) {
  Gathering& gathering = gathering_.emplace();
  gathering.study = opened_;
  if (!opened_) {
    gathering.runs = study.record.runs;
    gathering.subject = subject_of_record(study.record);
    return;
  }
  for (const config::RunConfig& run : opened_->runs) gathering.runs.push_back(run.id);
  gathering.subject = report::subject_of(*opened_);
}

void StudyFigures::gather(LabView& view, std::size_t portion) {
  const auto start = Clock::now();
  Gathering& now = *gathering_;
  for (; portion > 0 && now.next < now.runs.size(); --portion, ++now.next) {
    const std::string& run = now.runs[now.next];
    const auto record = view.index().find(run);
    if (!record) continue;
    report::ResultRow row = report::row_of(*record);
    if (now.study) {
      report::add_run_facts(row, now.study->runs[now.next]);
    } else {
      const config::RunConfig config = now.resolver.resolve(config_from_json(row.config, run));
      if (now.rows.empty()) now.subject.chance = config.chance;
      if (now.subject.chance != config.chance) now.subject.chance.reset();
      report::add_run_facts(row, config);
    }
    report::add_details(row, now.subject.figures, view.index(), view.lab());
    now.rows.push_back(std::move(row));
  }
  now.spent += Clock::now() - start;
}

StudyFigures::Shown StudyFigures::make(Gathering gathered) {
  const auto start = Clock::now();
  Shown made;
  try {
    if (gathered.study)
      made.claims = claims_json(report::judge_claims(gathered.study->name, gathered.rows, gathered.study->runs));
    made.figures = figures_json(report::build_figures(gathered.rows, gathered.subject), gathered.subject.figures,
                                gathered.subject.title);
  } catch (const std::exception& error) {
    made.trouble = error.what();
  }
  made.spent = gathered.spent + (Clock::now() - start);
  return made;
}

void StudyFigures::show(Shown made) {
  shown_ = std::move(made);
  next_ = Clock::now() + kPauseFactor * shown_.spent;
}

void StudyFigures::update(const StudyView& study, LabView& view, std::size_t at_once) {
  if (is_pending() || (drawn_ && results_ == study.results)) return;
  if (drawn_ && Clock::now() < next_) {
    put_off_ = true;
    return;
  }
  const auto& runs = study.record.runs;
  // Half a lab would be drawn for nothing.
  if (std::any_of(runs.begin(), runs.end(), [&](const std::string& run) { return view.is_unread(run); })) return;
  results_ = study.results;
  drawn_ = true;
  put_off_ = false;
  try {
    open(study.record);
    begin(study);
    const auto known = std::count_if(runs.begin(), runs.end(), [&](const std::string& run) { return view.find(run); });
    if (static_cast<std::size_t>(known) > at_once) return;
    gather(view, runs.size());
    show(make(std::move(*gathering_)));
  } catch (const Error& error) {
    show({.trouble = error.what()});
  }
  gathering_.reset();
}

bool StudyFigures::gather_more(LabView& view) {
  if (!gathering_) return false;
  try {
    gather(view, kGatheredAtOnce);
    if (gathering_->next < gathering_->runs.size()) return true;
    made_ = std::async(std::launch::async, make, std::move(*gathering_));
  } catch (const std::exception& error) {
    show({.trouble = error.what()});
    put_off_ = true;
  }
  gathering_.reset();
  return false;
}

bool StudyFigures::came_due() {
  if (made_.valid() && made_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    show(made_.get());
    return true;
  }
  if (!put_off_ || Clock::now() < next_) return false;
  put_off_ = false;
  return true;
}

}  // namespace mneme::serve
