#include "serve/api.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/code_identity.h"
#include "core/error.h"
#include "core/text.h"
#include "run/calibration.h"
#include "serve/lab_jobs.h"
#include "store/run_filter.h"

namespace mneme::serve {
namespace {

using store::RunState;

constexpr std::size_t kMostFailures = 20, kMostRecent = 8;

Json machine() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::array<double, 3> load{};
  const bool has_load = ::getloadavg(load.data(), 3) == 3;
  struct sysinfo memory {};
  ::sysinfo(&memory);
  return {{"host", host.data()},
          {"processors", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"load", has_load ? Json(load) : Json()},
          {"memory_total", static_cast<double>(memory.totalram) * memory.mem_unit},
          {"memory_free", run::available_memory()}};
}

// What the message says after its last "expected ".
std::string expected_in(std::string_view message) {
  const std::size_t at = message.rfind("expected ");
  return at == message.npos ? "" : std::string(message.substr(at + 9));
}

std::int64_t whole_number(const std::string& text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::usage, what, fmt::format("got '{}', expected a whole number", shortened(text, 40)));
  return value;
}

struct NotFound {
  std::string what, expected;
};

}  // namespace

Api::Api(LabView& view, Path results, std::size_t drawn_at_once)
    : view_(view), results_(std::move(results)), drawn_at_once_(drawn_at_once) {}
Api::~Api() = default;

Json Api::begin() const { return {{"api", kApiVersion}, {"generation", view_.generation()}}; }

Answer Api::answer(const Request& request) try {
  // Names are looked up in what the server knows already; none of them becomes a path.
  const std::vector<std::string> path(request.path.begin() + 2, request.path.end());
  const std::string kind = path.empty() ? "" : path[0];
  const auto is_run = [&](const std::string& id) {
    view_.read_now(id);
    return view_.find(id) != nullptr;
  };
  if (kind == "lab" && path.size() == 1) return json_answer(lab());
  if (kind == "runs" && path.size() == 1) {
    const std::string ids = request.first("ids");
    return json_answer(
        runs(request.all("filter"), ids.empty() ? std::nullopt : std::optional(split(std::string_view(ids), ','))));
  }
  if (kind == "papers" && path.size() == 1) return json_answer(papers());
  if (kind == "studies" && path.size() == 2) {
    if (!view_.study(path[1])) throw NotFound{"no such study", "a key that /api/v1/lab lists"};
    return json_answer(study(path[1]));
  }
  if (kind == "runs" && (path.size() == 2 || (path.size() == 3 && path[2] == "curves"))) {
    if (!is_run(path[1])) throw NotFound{"no such run", "the 12 digits of an id that /api/v1/runs lists"};
    if (path.size() == 2) return json_answer(run(path[1]));
    const std::string from = request.first("from");
    return json_answer(curves(path[1], from.empty() ? -1 : whole_number(from, "from")));
  }
  if (kind == "compare" && path.size() == 1) {
    const std::vector<std::string> ids = split(request.first("runs"), ',');
    if (ids.size() > 50) throw Error(ErrorKind::usage, "runs", "expected 1 to 50 ids with commas");
    for (const std::string& id : ids)
      if (!is_run(id)) throw NotFound{"no such run", "ids that /api/v1/runs lists"};
    return json_answer(compare(ids));
  }
  if (kind == "papers" && path.size() == 2) {
    for (const report::Reproduction& item : report::reproductions())
      if (item.id == path[1]) return json_answer(paper(path[1], request.first("scale")));
    throw NotFound{"no such figure or table", "an item that /api/v1/papers lists"};
  }
  throw NotFound{"there is nothing at this address", "docs/serve.md lists the addresses"};
} catch (const NotFound& missing) {
  return error_answer(404, missing.what, missing.expected);
} catch (const Error& error) {
  return error_answer(error.kind() == ErrorKind::usage ? 400 : 500, error.what(), expected_in(error.what()));
} catch (const std::exception& error) {
  return error_answer(500, fmt::format("internal error: {}", error.what()));
}

Json Api::counts_of(const StudyView& study) const {
  std::map<RunState, std::int64_t> states;
  std::int64_t last_change = 0, unread = 0;
  for (const std::string& run : study.record.runs) {
    const RunBrief* brief = view_.find(run);
    if (!brief && view_.is_unread(run)) {
      ++unread;
      continue;
    }
    ++states[brief ? brief->state : RunState::fresh];
    if (brief) last_change = std::max(last_change, brief->changed);
  }
  return {{"key", study.record.key},
          {"name", study.record.name},
          {"title", study.record.title},
          {"scale", study.record.scale},
          {"planned", study.record.runs.size()},
          {"unread", unread},
          {"waiting", states[RunState::fresh]},
          {"running", states[RunState::running]},
          {"interrupted", states[RunState::interrupted]},
          {"done", states[RunState::done]},
          {"diverged", states[RunState::diverged]},
          {"failed", states[RunState::failed]},
          {"cancelled", states[RunState::cancelled]},
          {"last_change", last_change == 0 ? Json() : Json(static_cast<double>(last_change) / 1e9)}};
}

std::optional<double> Api::seconds_left(const StudyView& study) {
  // What ended runs of the same mixer took; of any mixer where there is none yet.
  std::map<std::string, std::pair<double, int>> spent;
  int running = 0;
  for (const std::string& run : study.record.runs) {
    const RunBrief* brief = view_.find(run);
    if (!brief) continue;
    running += brief->state == RunState::running;
    if (brief->state != RunState::done && brief->state != RunState::diverged) continue;
    for (const std::string& kind : {brief->mixer, std::string()}) {
      spent[kind].first += brief->seconds;
      ++spent[kind].second;
    }
  }
  if (!spent.contains("")) return std::nullopt;
  const auto& fields = study.record.fields;
  const auto mixer_field = std::find(fields.begin(), fields.end(), "model.mixer") - fields.begin();
  double left = 0;
  for (std::size_t i = 0; i < study.record.runs.size(); ++i) {
    const RunBrief* brief = view_.find(study.record.runs[i]);
    if (brief && (brief->is_result() || brief->state == RunState::cancelled)) continue;
    if (!brief && view_.is_unread(study.record.runs[i])) continue;
    std::string kind = brief ? brief->mixer : "";
    if (!brief && mixer_field < std::ssize(fields) && i < study.record.points.size()) {
      const Json& mixer = study.record.points[i].at(static_cast<std::size_t>(mixer_field));
      if (mixer.is_string()) kind = mixer.get<std::string>();
    }
    const auto& [seconds, count] = spent[spent.contains(kind) ? kind : ""];
    double share = 1;
    if (brief && brief->steps > 0)
      if (const auto facts = view_.facts(study.record.runs[i]))
        share = 1 - std::min(1.0, static_cast<double>(brief->steps) / static_cast<double>(facts->budget));
    left += share * seconds / count;
  }
  return left / std::max(1, running);
}

Json Api::workers() {
  Json list = Json::array();
  std::vector<std::string> running;
  for (const auto& [run, brief] : view_.runs())
    if (brief.state == RunState::running) running.push_back(run);
  std::sort(running.begin(), running.end());
  for (const std::string& run : running) {
    const RunBrief& brief = *view_.find(run);
    const auto facts = view_.facts(run);
    Json loss;
    double speed = 0;
    const std::vector<store::MetricRow> metrics = view_.index().metrics(run);
    if (!metrics.empty()) loss = parse_json(metrics.back().values, run).value("loss", Json());
    if (!metrics.empty() && facts) {
      // Since the evaluation before, so that a change of the machine's load shows.
      const store::MetricRow &last = metrics.back(),
                             before = metrics.size() > 1 ? metrics[metrics.size() - 2] : store::MetricRow{};
      if (last.seconds > before.seconds)
        speed =
            static_cast<double>((last.step - before.step) * facts->tokens_per_step) / (last.seconds - before.seconds);
    }
    const double left =
        facts && speed > 0 ? static_cast<double>((facts->budget - brief.steps) * facts->tokens_per_step) / speed : -1;
    list.push_back({{"run", run},
                    {"mixer", brief.mixer},
                    {"task", brief.task},
                    {"lr", brief.lr},
                    {"seed", brief.seed},
                    {"step", brief.steps},
                    {"steps", facts ? Json(facts->budget) : Json()},
                    {"loss", loss},
                    {"accuracy", number_or_null(brief.validation)},
                    {"tokens_per_second", speed > 0 ? Json(speed) : Json()},
                    {"seconds_left", left >= 0 ? Json(left) : Json()}});
  }
  return list;
}

Json Api::recent() const {
  std::vector<std::pair<std::int64_t, std::string>> ended;
  for (const auto& [run, brief] : view_.runs())
    if (brief.is_result()) ended.emplace_back(-brief.changed, run);
  const std::size_t count = std::min(ended.size(), kMostRecent);
  std::partial_sort(ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(count), ended.end());
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const RunBrief& brief = *view_.find(ended[i].second);
    list.push_back({{"run", ended[i].second},
                    {"mixer", brief.mixer},
                    {"lr", brief.lr},
                    {"seed", brief.seed},
                    {"state", store::run_state_name(brief.state)},
                    {"accuracy", number_or_null(brief.accuracy())},
                    {"time", static_cast<double>(brief.changed) / 1e9}});
  }
  return list;
}

Json Api::lab() {
  Json json = begin();
  json["lab"] = view_.lab().root().string();
  json["mneme"] = this_code().version;
  json["code"] = this_code().build;
  json["trouble"] = view_.trouble().empty() ? Json() : Json(view_.trouble());
  json["machine"] = machine();
  json["jobs"] = jobs_of(view_.lab());
  Json states = {{"total", view_.runs().size()}, {"unread", view_.unread()}};
  for (const RunState state : {RunState::fresh, RunState::running, RunState::interrupted, RunState::done,
                               RunState::diverged, RunState::failed, RunState::cancelled})
    states[std::string(store::run_state_name(state))] = 0;
  std::vector<std::pair<std::int64_t, std::string>> failed;
  for (const auto& [run, brief] : view_.runs()) {
    Json& count = states[std::string(store::run_state_name(brief.state))];
    count = count.get<std::int64_t>() + 1;
    if (brief.state == RunState::failed) failed.emplace_back(-brief.changed, run);
  }
  json["runs"] = states;
  Json studies = Json::array(), failures = Json::array();
  for (const auto& [key, study] : view_.studies()) {
    studies.push_back(counts_of(study));
    studies.back()["seconds_left"] = number_or_null(seconds_left(study));
  }
  std::sort(failed.begin(), failed.end());
  failed.resize(std::min(failed.size(), kMostFailures));
  for (const auto& [changed, run] : failed) {
    const RunBrief& brief = *view_.find(run);
    failures.push_back({{"run", run},
                        {"mixer", brief.mixer},
                        {"lr", brief.lr},
                        {"seed", brief.seed},
                        {"reason", brief.reason},
                        {"time", static_cast<double>(-changed) / 1e9}});
  }
  json["studies"] = studies;
  json["workers"] = workers();
  json["failures"] = failures;
  json["recent"] = recent();
  json["damaged"] = view_.damaged();
  json["notices"] = view_.index().notices();
  const Json papers = this->papers();
  json["papers_ready"] = papers["ready"];
  json["papers"] = papers["items"];
  return json;
}

}  // namespace mneme::serve
