#include "serve/lab_view.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace mneme::serve {
namespace {

using store::RunState;

constexpr std::size_t kReadAtOnce = 32;  // runs that are read between two questions

// The later time of what is kept of a run after its end, 0 without any.
std::int64_t looked_into(const store::RunDirectory& directory) {
  std::int64_t latest = 0;
  for (const char* name : {"inspect.json", "evaluations"}) {
    struct stat status {};
    if (::stat((directory.path() / name).c_str(), &status) == 0)
      latest = std::max<std::int64_t>(latest, status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec);
  }
  return latest;
}

RunBrief brief_of(const store::RunRecord& record) {
  return {.state = record.state,
          .mixer = record.mixer,
          .task = record.task,
          .reason = record.reason,
          .tags = join(record.notes.tags, " "),
          .note = record.notes.note,
          .lr = record.lr,
          .seconds = record.seconds,
          .seed = record.seed,
          .steps = record.steps,
          .changed = record.changed,
          .looked_into = 0,
          .validation = record.validation_accuracy,
          .test = record.test_accuracy};
}

bool is_trained(const store::RunDirectory& directory) {
  try {
    return directory.state() == RunState::running;
  } catch (const Error&) {
    return false;  // reading it again will say why
  }
}

const store::Lab& required(const store::Lab& lab) {
  lab.require();
  return lab;
}

}  // namespace

bool RunBrief::is_result() const {
  return state == RunState::done || state == RunState::diverged || state == RunState::failed;
}

LabView::LabView(store::Lab lab)
    // Seen before it is read: what changes in between is then found as a change.
    : lab_(required(lab)), watch_(lab), index_((watch_.look(), store::Index::read_only(lab))) {
  for (const store::RunRecord& record : index_.query()) {
    runs_[record.id] = brief_of(record);
    watch_.mark(record.id, record.state == RunState::running);
  }
  queue_ = index_.stale();
  std::reverse(queue_.begin(), queue_.end());
  unread_.insert(queue_.begin(), queue_.end());
  to_read_ = unread_.size();
  Changes ignored;
  read_studies(ignored);
}

Changes LabView::read_more() {
  Changes changes;
  std::vector<std::string> runs;
  for (; runs.size() < kReadAtOnce && !queue_.empty(); queue_.pop_back())
    if (is_unread(queue_.back())) runs.push_back(queue_.back());
  read(runs, changes);
  name_studies(changes);
  if (changes.any() || unread_.empty()) ++generation_;
  return changes;
}

void LabView::read_all() {
  while (!unread_.empty()) read_more();
}

void LabView::read_now(const std::string& run) {
  if (!is_unread(run)) return;
  Changes changes;
  read({run}, changes);
  if (changes.any()) ++generation_;
}

const RunBrief* LabView::find(const std::string& run) const {
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : &found->second;
}

const StudyView* LabView::study(const std::string& key) const {
  const auto found = studies_.find(key);
  return found == studies_.end() ? nullptr : &found->second;
}

std::vector<std::string> LabView::studies_of(const std::string& run) const {
  std::vector<std::string> keys;
  if (const auto found = of_run_.find(run); found != of_run_.end())
    for (const StudyView* study : found->second) keys.push_back(study->record.key);
  return keys;
}

std::vector<std::string> LabView::damaged() const {
  std::vector<std::string> texts;
  for (const auto& [run, why] : damaged_) texts.push_back(why);
  return texts;
}

void LabView::note_results(const std::string& run) {
  if (const auto found = of_run_.find(run); found != of_run_.end())
    for (StudyView* study : found->second) ++study->results;
}

void LabView::read(const std::vector<std::string>& runs, Changes& changes) {
  if (runs.empty()) return;
  const std::size_t damages = damaged_.size();
  for (const std::string& run : runs) unread_.erase(run);
  index_.rebuild_runs(runs);
  const std::vector<std::string> damaged = index_.damaged();
  for (const std::string& run : runs) {
    // A message names the file, and so the run.
    const auto names = [&](const std::string& why) { return why.find(run) != why.npos; };
    if (!damaged_.empty()) std::erase_if(damaged_, [&](const auto& one) { return names(one.second); });
    if (const auto why = std::find_if(damaged.begin(), damaged.end(), names); why != damaged.end())
      damaged_[run] = *why;
  }
  changes.other |= damaged_.size() != damages;
  for (const std::string& run : runs) take(run, changes);
}

void LabView::take(const std::string& run, Changes& changes) {
  const RunBrief* before = find(run);
  const bool was_result = before && before->is_result();
  const auto record = index_.find(run);
  if (!record) {
    watch_.mark(run, false);
    if (!before) return;
    changes.runs.push_back(run);
    runs_.erase(run);
    ++population_;
    if (was_result) note_results(run);
    return;
  }
  RunBrief brief = brief_of(*record);
  brief.looked_into = looked_into(lab_.run(run));
  watch_.mark(run, brief.state == RunState::running);
  if (before && *before == brief) return;  // a file that no answer is made of
  changes.runs.push_back(run);
  if (was_result || brief.is_result()) note_results(run);
  if (fields_ && !fields_->has(run)) fields_->set(run, parse_json(record->config, run));
  if (!before) ++population_;
  runs_[run] = brief;
}

void LabView::forget(const std::string& run, Changes& changes) {
  damaged_.erase(run);
  unread_.erase(run);
  if (!runs_.contains(run)) return;
  if (runs_.at(run).is_result()) note_results(run);
  index_.rebuild_runs({run});
  runs_.erase(run);
  ++population_;
  if (fields_) fields_->erase(run);
  changes.runs.push_back(run);
}

void LabView::read_studies(Changes& changes) {
  std::map<std::string, StudyView> studies;
  for (report::StudyRecord& record : report::remembered_studies(lab_)) {
    const std::string key = record.key;
    StudyView& study = studies[key];
    const StudyView* old = this->study(key);
    const bool same = old && old->record.runs == record.runs && old->record.title == record.title &&
                      old->record.figures == record.figures;
    study.results = old ? old->results + (same ? 0 : 1) : 0;
    study.record = std::move(record);
    if (!same) changes.studies.push_back(key);
  }
  for (const auto& [key, study] : studies_)
    if (!studies.contains(key)) changes.studies.push_back(key);
  studies_ = std::move(studies);
  of_run_.clear();
  for (auto& [key, study] : studies_)
    for (const std::string& run : study.record.runs) of_run_[run].push_back(&study);
}

Changes LabView::poll() {
  Changes changes;
  const LabWatch::Round round = watch_.look();
  const std::string trouble =
      round.lab_is_gone ? fmt::format("the lab {} is gone; showing its last known state", lab_.root().string()) : "";
  changes.other = trouble != trouble_;
  trouble_ = trouble;
  if (!round.lab_is_gone) {
    for (const std::string& run : round.gone) forget(run, changes);
    read(round.changed, changes);
    // A worker that was killed changes no file.
    std::vector<std::string> ended;
    for (const auto& [run, brief] : runs_)
      if (brief.state == RunState::running && !is_trained(lab_.run(run))) ended.push_back(run);
    read(ended, changes);
    if (round.studies) read_studies(changes);
  }
  name_studies(changes);
  if (changes.any()) ++generation_;
  return changes;
}

void LabView::name_studies(Changes& changes) const {
  std::set<std::string> studies(changes.studies.begin(), changes.studies.end());
  for (const std::string& run : changes.runs)
    for (const std::string& key : studies_of(run)) studies.insert(key);
  changes.studies.assign(studies.begin(), studies.end());
}

bool LabView::tell_trouble(const std::string& text) {
  if (text == trouble_) return false;
  trouble_ = text;
  ++generation_;
  return true;
}

FieldTable& LabView::fields() {
  if (!fields_) {
    fields_.emplace();
    for (const store::RunRecord& record : index_.query()) fields_->set(record.id, parse_json(record.config, record.id));
  }
  return *fields_;
}

std::optional<RunFacts> LabView::facts(const std::string& run) {
  const auto known = facts_.find(run);
  if (known != facts_.end()) return known->second;
  const auto record = index_.find(run);
  if (!record) return std::nullopt;
  std::optional<RunFacts> facts;
  try {
    const config::RunConfig config = resolver_.resolve(config_from_json(parse_json(record->config, run), run));
    const std::int64_t budget = config.train.integer("steps");
    facts = {.budget = budget,
             .tokens_per_step = config.train.integer("batch") * config.shape.length,
             .flops_per_step = config.training_flops() / static_cast<double>(std::max<std::int64_t>(budget, 1))};
  } catch (const Error&) {
    // A run of a version that knew other options.
    resolver_ = {};
  }
  return facts_[run] = facts;
}

}  // namespace mneme::serve
