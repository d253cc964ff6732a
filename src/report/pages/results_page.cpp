#include "report/pages/results_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/error.h"
#include "report/claims/reproduction_state.h"
#include "report/claims/scales.h"
#include "report/pages/budgets.h"
#include "report/pages/card.h"
#include "report/stats/format.h"
#include "report/stats/lr_window.h"

namespace mneme::report {
namespace {

constexpr std::string_view kMarkOpen = "<!-- ", kMarkClose = " -->", kMarkEnd = "<!-- end -->";

std::string markdown(const Table& table) {
  std::string text = "\n|";
  for (const Column& column : table.columns) text += fmt::format(" {} |", column.title);
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  for (const auto& row : table.rows) {
    text += "\n|";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += i == 0 ? fmt::format(" `{}` |", row[i]) : fmt::format(" {} |", row[i]);
  }
  return text + "\n";
}

class Filler {
 public:
  explicit Filler(Path results) : results_(std::move(results)) {}

  // What the mark means; nothing if it is none of ours.
  std::optional<std::string> fill(const std::string& mark) {
    std::istringstream words(mark);
    std::string kind, item, scale;
    words >> kind;
    if (kind == "verdicts" && words >> item >> scale) return markdown(verdict_table(state(item, scale, mark)));
    if (kind == "budgets") return markdown(budget_table(budgets_in(results_)));
    if (kind == "scales" && words >> item) return scales(item);
    if (kind == "cards" && words >> item) return cards(item, mark);
    if (kind != "n") return {};
    std::string word;
    if (!(words >> item >> scale >> word)) throw_at(mark, "expected an item, a scale and a word");
    std::vector<std::string> rest;
    for (std::string next; words >> next;) rest.push_back(next);
    return number(state(item, scale, mark), word, rest, mark);
  }

 private:
  [[noreturn]] static void throw_at(const std::string& mark, const std::string& trouble) {
    throw Error(ErrorKind::data, "mark '" + mark + "'", trouble);
  }

  const ReproductionState& state(const std::string& item, const std::string& scale, const std::string& mark) {
    const auto found = states_.find({item, scale});
    if (found != states_.end()) return found->second;
    ReproductionState made = state_in_files(find_reproduction(item), scale, results_);
    if (made.ended == 0) throw_at(mark, "none of its runs is kept, expected some");
    return states_[{item, scale}] = std::move(made);
  }

  std::string cards(const std::string& what, const std::string& mark) const {
    static const std::map<std::string, ZooColumn> columns = {
        {"score", ZooColumn::score}, {"beyond", ZooColumn::beyond}, {"window", ZooColumn::window}};
    const auto found = columns.find(what);
    if (found == columns.end()) throw_at(mark, "expected score, beyond or window");
    return markdown(zoo_table(best_first(cards_in(results_ / "card", "standard")), found->second));
  }

  std::string scales(const std::string& item) {
    std::vector<ReproductionState> states;
    for (const std::string& scale : kept_scales(find_reproduction(item), results_))
      states.push_back(state_in_files(find_reproduction(item), scale, results_));
    return markdown(scale_table(states));
  }

  static std::string number(const ReproductionState& state, const std::string& word,
                            const std::vector<std::string>& rest, const std::string& mark) {
    if (word == "runs") return std::to_string(state.ended);
    if (word == "planned") return std::to_string(state.planned);
    if (word == "claims" && rest.size() == 1) {
      for (const Verdict verdict : kVerdicts)
        if (verdict_name(verdict) == rest.front()) return std::to_string(count_with(state.claims(), verdict));
      throw_at(mark, "unknown verdict");
    }
    std::vector<ResultRow> rows;
    for (const ResultRow& row : state.rows)
      if (is_result(row) &&
          std::all_of(rest.begin(), rest.end(), [&](const std::string& one) { return fits(row, one, mark); }))
        rows.push_back(row);
    const LrWindows windows = find_lr_windows(rows);
    if (windows.series.size() != 1)
      throw_at(mark, fmt::format("the conditions leave {} series, expected one", windows.series.size()));
    const LrSeries& series = windows.series.front();
    const RatePoint& best = series.points[series.best];
    if (word == "test") return format_percent(best.test.mean);
    if (word == "validation") return format_percent(best.validation.mean);
    if (word == "least") return format_percent(best.test.min);
    if (word == "most") return format_percent(best.test.max);
    if (word == "rate") return format_rate(best.rate);
    if (word == "window") return describe_range(series.window);
    if (word == "decades") return describe_width(series.window);
    throw_at(mark, "unknown word '" + word + "'");
  }

  static bool fits(const ResultRow& row, const std::string& condition, const std::string& mark) {
    const std::size_t equals = condition.find('=');
    if (equals == condition.npos) throw_at(mark, "expected path=value, got '" + condition + "'");
    const std::string text = condition.substr(equals + 1);
    const Json parsed = Json::parse(text, nullptr, false);
    return !Evidence(std::span(&row, 1))
                .where(condition.substr(0, equals), parsed.is_discarded() ? Json(text) : parsed)
                .empty();
  }

  Path results_;
  std::map<std::pair<std::string, std::string>, ReproductionState> states_;
};

}  // namespace

std::string fill_results_page(std::string_view page, const Path& results) {
  Filler filler(results);
  std::string filled;
  while (true) {
    const std::size_t open = page.find(kMarkOpen);
    const std::size_t close = open == page.npos ? page.npos : page.find(kMarkClose, open);
    if (close == page.npos) return filled + std::string(page);
    const std::size_t begin = close + kMarkClose.size();
    const std::string mark(page.substr(open + kMarkOpen.size(), close - open - kMarkOpen.size()));
    const auto made = filler.fill(mark);
    filled += page.substr(0, begin);
    page.remove_prefix(begin);
    if (!made) continue;
    const std::size_t end = page.find(kMarkEnd);
    if (end == page.npos) throw Error(ErrorKind::data, "mark '" + mark + "'", "has no end");
    filled += *made;
    page.remove_prefix(end);
  }
}

}  // namespace mneme::report
