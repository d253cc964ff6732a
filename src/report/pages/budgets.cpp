#include "report/pages/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/text.h"
#include "report/claims/reproductions.h"
#include "report/pages/shipped_results.h"
#include "report/pages/study_files.h"
#include "report/stats/curves.h"
#include "report/stats/result_file.h"
#include "tasks/task.h"

namespace mneme::report {
namespace {

constexpr double kNearlyGuessed = 0.75;

// The first step at which it was solved, as far as the result says.
std::optional<std::int64_t> needed_steps(const ResultRow& row, bool& exact) {
  for (const MetricPoint& point : row.metrics)
    if (score_of(row, point) >= kSolved) return point.step;
  if (has_curve(row) || validation_score(row) < kSolved) return std::nullopt;
  exact = false;
  const Json best = row.values.value("best", Json::object());
  return best.value("accuracy", 0.0) >= kSolved && !judged_by_sequence(row) ? best.value("step", row.steps) : row.steps;
}

// Its length, and the options that are not at their defaults.
std::string task_size(const std::string& task, const Json& options) {
  std::vector<std::string> parts;
  for (const Field& field : tasks::find_task(task, "task").options) {
    const auto value = options.find(field.name);
    if (value != options.end() && (field.name == "length" || *value != field.fallback))
      parts.push_back(field_text("task." + field.name, *value));
  }
  return parts.empty() ? "default size" : join(parts, ", ");
}

// The results of one file, "ITEM.SCALE" by name; none if no study makes them any more. Tasks that guessing nearly
// solves are left out, and so are signals, which are mostly silence: reaching kSolved says nothing there.
std::vector<ResultRow> rows_in(const std::string& name, std::string_view text) {
  const std::size_t dot = name.rfind('.');
  for (const Reproduction& item : reproductions())
    if (item.id == name.substr(0, dot)) {
      const study::Study study = open_study(item.study, {name.substr(dot + 1), {}});
      std::set<std::string> guessed;
      for (const config::RunConfig& run : study.runs)
        if (run.chance >= kNearlyGuessed || run.shape.is_signal()) guessed.insert(run.id);
      std::vector<ResultRow> rows = read_results(text, name, study.runs).rows;
      std::erase_if(rows, [&](const ResultRow& row) { return guessed.contains(row.run); });
      return rows;
    }
  return {};
}

double median(const std::vector<double>& sorted) {
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

std::string steps_range(const Budget& budget) {
  if (budget.steps.empty()) return "-";
  const std::string first = grouped(budget.steps.front()), last = grouped(budget.steps.back());
  return (budget.exact ? "" : "at most ") + (first == last ? first : fmt::format("{} to {}", first, last));
}

}  // namespace

std::vector<Budget> budgets_of(std::span<const ResultRow> rows) {
  std::map<std::tuple<std::string, std::int64_t, std::string, std::string, std::int64_t>, Budget> groups;
  for (const ResultRow& row : rows) {
    if (!is_result(row)) continue;
    const Json& task = row.config.at("task");
    const std::int64_t batch = row.config.at("train").at("batch").get<std::int64_t>();
    Budget one;
    one.task = task.at("name").get<std::string>();
    one.mixer = mixer_name(row);
    one.batch = batch;
    one.size = task_size(one.task, task);
    one.length = task.value("length", row.tokens_per_step / std::max<std::int64_t>(batch, 1));
    Budget& budget =
        groups.try_emplace({one.task, one.length, one.size, one.mixer, batch}, std::move(one)).first->second;
    ++budget.runs;
    budget.most_steps = std::max(budget.most_steps, budget_steps(row));
    if (const auto steps = needed_steps(row, budget.exact)) budget.steps.push_back(*steps);
  }
  std::vector<Budget> budgets;
  for (auto& [key, budget] : groups) {
    std::sort(budget.steps.begin(), budget.steps.end());
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

std::vector<Budget> shipped_budgets() {
  std::vector<ResultRow> rows;
  for (const ShippedResults& file : shipped_result_files())
    for (ResultRow& row : rows_in(std::string(file.name), file.text)) rows.push_back(std::move(row));
  return budgets_of(rows);
}

std::vector<Budget> budgets_in(const Path& results) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(results))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ResultRow> rows;
  for (const Path& file : files)
    for (ResultRow& row : rows_in(file.stem().string(), read_file(file))) rows.push_back(std::move(row));
  return budgets_of(rows);
}

Table budget_table(const std::vector<Budget>& budgets) {
  Table table{.columns = {{"task"},
                          {"size"},
                          {"mixer"},
                          {"solved", Align::right},
                          {"steps needed", Align::right},
                          {"batch", Align::right},
                          {"steps given", Align::right}},
              .rows = {}};
  for (const Budget& budget : budgets)
    table.rows.push_back({budget.task, budget.size, budget.mixer,
                          fmt::format("{} of {}", budget.steps.size(), budget.runs), steps_range(budget),
                          std::to_string(budget.batch), grouped(budget.most_steps)});
  return table;
}

namespace {

// What a study asks of one task and size.
struct Asked {
  std::string task, size;
  std::int64_t length = 0, steps = 0, batch = 0;
  std::set<std::string> mixers;
};

std::vector<Asked> asked_by(std::span<const config::RunConfig> runs) {
  std::map<std::pair<std::string, Json>, Asked> groups;
  Asked* last = nullptr;  // neighbours in a grid mostly have the same task
  const Json *options = nullptr, *model = nullptr;
  for (const config::RunConfig& run : runs) {
    // Runs of a grid share the values of their options, so places in memory tell.
    if (!last || options != &run.task.values()) last = &groups[{run.task_entry->name, run.task.values()}];
    Asked& asked = *last;
    asked.task = run.task_entry->name;
    asked.length = run.shape.length;
    asked.steps = std::max(asked.steps, run.train.integer("steps"));
    asked.batch = run.train.integer("batch");
    if (model != &run.model.values() || options != &run.task.values()) asked.mixers.insert(run.model.text("mixer"));
    model = &run.model.values();
    options = &run.task.values();
  }
  std::vector<Asked> all;
  for (auto& [key, asked] : groups) {
    asked.size = task_size(key.first, key.second);
    all.push_back(std::move(asked));
  }
  return all;
}

// "lstm and gru", or how many there are.
std::string mixers_text(const std::set<std::string>& mixers) {
  return mixers.size() <= 3 ? join(std::vector<std::string>(mixers.begin(), mixers.end()), ", ")
                            : fmt::format("{} mixers", mixers.size());
}

// What these results of one size say, in steps of `batch`.
std::string sentence(const std::vector<const Budget*>& results, const Asked& asked) {
  std::vector<double> sequences;
  std::set<std::string> mixers;
  std::int64_t runs = 0;
  double given = 0;
  bool exact = true;
  for (const Budget* budget : results) {
    for (const std::int64_t steps : budget->steps) sequences.push_back(static_cast<double>(steps * budget->batch));
    runs += budget->runs;
    given = std::max(given, static_cast<double>(budget->most_steps * budget->batch));
    exact &= budget->exact;
    mixers.insert(budget->mixer);
  }
  const auto steps = [&](double count) {
    return grouped(static_cast<std::int64_t>(std::ceil(count / static_cast<double>(asked.batch))));
  };
  if (sequences.empty())
    return fmt::format("none of our runs ({} of {}) solved it within {} steps of {}", runs, mixers_text(mixers),
                       steps(given), asked.batch);
  std::sort(sequences.begin(), sequences.end());
  std::string text =
      fmt::format("{} of our {} runs of {} reached {:.0f} %, after {}{} to {} steps of {}, median {}", sequences.size(),
                  runs, mixers_text(mixers), 100 * kSolved, exact ? "" : "at most ", steps(sequences.front()),
                  steps(sequences.back()), asked.batch, steps(median(sequences)));
  if (static_cast<double>(asked.steps * asked.batch) < median(sequences)) text += "; this study gives less";
  return text;
}

std::string line_about(const Asked& asked, const std::vector<Budget>& budgets) {
  const std::string head = fmt::format("{}, {}: ", asked.task, asked.size);
  std::map<std::string, std::vector<const Budget*>> sizes;
  std::string nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const Budget& budget : budgets) {
    if (budget.task != asked.task) continue;
    sizes[budget.size].push_back(&budget);
    const double ratio = static_cast<double>(std::max<std::int64_t>(budget.length, 1)) /
                         static_cast<double>(std::max<std::int64_t>(asked.length, 1));
    if (const double distance = std::abs(std::log(ratio)); distance < least) {
      least = distance;
      nearest = budget.size;
    }
  }
  const std::string given = fmt::format(" (here: {} steps of {})", grouped(asked.steps), asked.batch);
  if (sizes.empty()) return head + "not known: we keep no results of this task" + given;
  const bool same = sizes.contains(asked.size);
  const std::vector<const Budget*>& all = sizes[same ? asked.size : nearest];
  std::vector<const Budget*> own;
  for (const Budget* budget : all)
    if (asked.mixers.contains(budget->mixer)) own.push_back(budget);
  const std::string said = sentence(own.empty() ? all : own, asked);
  return head + (same ? said : fmt::format("not known at this size; at {}: {}", nearest, said)) + given;
}

}  // namespace

std::vector<std::string> budget_lines(std::span<const config::RunConfig> runs, const std::vector<Budget>& budgets) {
  constexpr std::size_t kShown = 3;
  const std::vector<Asked> asked = asked_by(runs);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(asked.size(), kShown); ++i) lines.push_back(line_about(asked[i], budgets));
  if (asked.size() > kShown)
    lines.push_back(fmt::format("{} more sizes; `mneme list budgets` has all that is known", asked.size() - kShown));
  return lines;
}

}  // namespace mneme::report
