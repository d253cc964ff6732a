#include "tasks/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace mneme::tasks {
namespace {

using Permutation = std::vector<int>;

bool is_even(const Permutation& permutation) {
  int inversions = 0;
  for (std::size_t i = 0; i < permutation.size(); ++i)
    for (std::size_t j = i + 1; j < permutation.size(); ++j) inversions += permutation[i] > permutation[j];
  return inversions % 2 == 0;
}

struct Factor {
  char family;
  std::int64_t n;

  std::int64_t order() const {
    if (family == 'Z') return n;
    std::int64_t order = 1;
    for (std::int64_t i = family == 'A' ? 3 : 2; i <= n && order <= kLargestGroup; ++i) order *= i;
    return order;
  }
};

std::optional<Factor> parse_factor(std::string_view text) {
  if (text.empty() || std::string_view("ZAS").find(text[0]) == text.npos) return std::nullopt;
  Factor factor{text[0], 0};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, factor.n);
  if (error != std::errc() || stop != end || factor.n < 1) return std::nullopt;
  return factor;
}

}  // namespace

Group::Group(std::vector<std::string> names, std::vector<std::uint16_t> table)
    : order_(static_cast<std::int64_t>(names.size())), names_(std::move(names)), table_(std::move(table)) {}

Group Group::cyclic(std::int64_t n) {
  std::vector<std::string> names;
  std::vector<std::uint16_t> table;
  for (std::int64_t a = 0; a < n; ++a) {
    names.push_back(std::to_string(a));
    for (std::int64_t b = 0; b < n; ++b) table.push_back(static_cast<std::uint16_t>((a + b) % n));
  }
  return Group(std::move(names), std::move(table));
}

Group Group::permutations(std::int64_t n, bool even_only) {
  Permutation current(static_cast<std::size_t>(n));
  std::iota(current.begin(), current.end(), 1);
  std::vector<Permutation> elements;
  do {
    if (!even_only || is_even(current)) elements.push_back(current);
  } while (std::next_permutation(current.begin(), current.end()));

  // A permutation of at most seven points packs into an integer, by which products are looked up.
  const auto packed = [](const Permutation& p) {
    return std::accumulate(p.begin(), p.end(), std::size_t{0},
                           [](std::size_t sum, int i) { return 8 * sum + static_cast<std::size_t>(i); });
  };
  std::vector<std::uint16_t> index(packed(elements.back()) + 1);
  std::vector<std::string> names;
  for (const Permutation& element : elements) {
    index[packed(element)] = static_cast<std::uint16_t>(names.size());
    names.push_back(fmt::format("[{}]", fmt::join(element, " ")));
  }
  std::vector<std::uint16_t> table;
  table.reserve(elements.size() * elements.size());
  for (const Permutation& a : elements)
    for (const Permutation& b : elements) {
      for (std::size_t i = 0; i < b.size(); ++i) current[i] = a[static_cast<std::size_t>(b[i] - 1)];
      table.push_back(index[packed(current)]);
    }
  return Group(std::move(names), std::move(table));
}

Group Group::direct_product(const Group& outer, const Group& inner) {
  const auto outer_order = static_cast<std::int32_t>(outer.order_),
             inner_order = static_cast<std::int32_t>(inner.order_);
  std::vector<std::string> names;
  std::vector<std::uint16_t> table;
  for (std::int32_t a = 0; a < outer_order * inner_order; ++a) {
    const std::int32_t a_outer = a / inner_order, a_inner = a % inner_order;
    names.push_back(fmt::format("{}, {}", outer.name(a_outer), inner.name(a_inner)));
    for (std::int32_t b = 0; b < outer_order * inner_order; ++b)
      table.push_back(static_cast<std::uint16_t>(inner_order * outer.product(a_outer, b / inner_order) +
                                                 inner.product(a_inner, b % inner_order)));
  }
  return Group(std::move(names), std::move(table));
}

std::string Group::trouble(std::string_view expression) {
  std::int64_t order = 1;
  for (const std::string& part : split(expression, 'x')) {
    const auto factor = parse_factor(part);
    if (!factor)
      return fmt::format(
          "Z, A or S with a number from 1, or a product of such joined by x (Z60, A5, S3, A4xZ5), "
          "not '{}'",
          part);
    order = std::min(order * std::min(factor->order(), kLargestGroup + 1), kLargestGroup + 1);
  }
  if (order > kLargestGroup) return fmt::format("a group of at most {} elements", kLargestGroup);
  if (order == 1) return "a group of at least 2 elements: with one there is no state to track";
  return "";
}

Group Group::parse(std::string_view expression) {
  require(trouble(expression).empty(), "the expression of a group");
  std::optional<Group> group;
  for (const std::string& part : split(expression, 'x')) {
    const Factor factor = *parse_factor(part);
    Group next = factor.family == 'Z' ? cyclic(factor.n) : permutations(factor.n, factor.family == 'A');
    group = group ? direct_product(*group, next) : std::move(next);
  }
  return *std::move(group);
}

}  // namespace mneme::tasks
