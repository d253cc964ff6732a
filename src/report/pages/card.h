// The report card of a mixer: what it can remember, by a fixed battery of small tests (docs/card.md).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "report/pages/html.h"

namespace mneme::report {

// Raised whenever a test, a size or a rule of the battery changes: cards of different versions are not compared.
inline constexpr int kCardVersion = 1;

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

// One line a test: score, window, best rate, extrapolation, size, speed.
Table card_table(const Json& card);
// One line a mixer, one column a test: the scores.
Table zoo_table(std::span<const Json> cards);

// The mixer's scores over the kinds of memory, in front of those of the others.
Json profile_figure(const Json& card, std::span<const Json> others);
// All mixers by all tests.
Json zoo_figure(std::span<const Json> cards);

ReportPage card_page(const Json& card, std::span<const Json> others);
ReportPage zoo_page(std::span<const Json> cards);

}  // namespace mneme::report
