// The report card of a mixer: what it can remember, by a fixed battery of small tests (docs/card.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "core/json.h"
#include "report/pages/html.h"

namespace mneme::report {

// Raised whenever a test, a size or a rule of the battery changes: cards of different versions are not compared.
inline constexpr int kCardVersion = 4;
// In place of an axis, where what is beyond training is the phase tests of counting.
inline constexpr const char* kPhaseTests = "phases";

struct CardTest {
  const char* name;
  const char* study;  // among the shipped studies
  const char* kind;   // of memory, for the profile
  double threshold;   // validation accuracy from which a run counts as solved
  const char* score;  // pointer into the values of a summary
  const char* score_name;
};

// In the order of the profile.
const std::vector<CardTest>& card_tests();

// Cards that ship with the program, as card files hold them: one of every mixer, of the present version and this scale.
std::vector<Json> shipped_cards(std::string_view scale);
// The same from the files of a directory.
std::vector<Json> cards_in(const Path& directory, std::string_view scale);

// A score of a card file, which is null where there is none.
std::optional<double> fraction_in(const Json& value);
// How far a score of this test is from chance (0) to perfect (1).
double above_chance(const Json& test, const Json& score);
// By the sum over their tests of how far they are above chance.
std::vector<Json> best_first(std::span<const Json> cards);

// One line a test: score, window, best rate, extrapolation; size and speed.
Table card_table(const Json& card);
Table card_cost_table(const Json& card);
// One line per mixer, one column per test.
enum class ZooColumn { score, beyond, window };
Table zoo_table(std::span<const Json> cards, ZooColumn what);

// The mixer's scores over the kinds of memory, in front of those of the others.
Json profile_figure(const Json& card, std::span<const Json> others);
// All mixers by all tests: on what they were trained for, and beyond it.
Json zoo_figure(std::span<const Json> cards);
Json zoo_beyond_figure(std::span<const Json> cards);

ReportPage card_page(const Json& card, std::span<const Json> others);
ReportPage zoo_page(std::span<const Json> cards);

}  // namespace mneme::report
