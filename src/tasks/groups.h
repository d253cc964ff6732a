// Finite groups from an expression: products of Z_n (cyclic), A_n (even permutations), S_n (permutations).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::tasks {

// The largest order whose multiplication table is made.
inline constexpr std::int64_t kLargestGroup = 2520;

// Elements are numbered 0..order-1, the identity is 0.
// Z_n: the residues, added. A_n, S_n: the permutations of 1..n in lexicographic order of their one-line
// notation; a * b is a after b, (a * b)(i) = a(b(i)). Products: the last factor counts fastest, the
// factors are multiplied separately (A4xZ5: element 5 i + j).
class Group {
 public:
  // From "Z60", "A5", "A4xZ5", "S3xS3xZ2"; the expression must have no trouble().
  static Group parse(std::string_view expression);
  // What would have been expected in place of an expression that is not a group of this kind, has one
  // element only, or more than kLargestGroup; empty for a good one.
  static std::string trouble(std::string_view expression);

  std::int64_t order() const { return order_; }
  std::int32_t product(std::int32_t a, std::int32_t b) const {
    return table_[static_cast<std::size_t>(a) * static_cast<std::size_t>(order_) + static_cast<std::size_t>(b)];
  }
  // "7", "[1 3 2]", "([1 3 2], 4)": an element as a person writes it.
  const std::string& name(std::int32_t element) const { return names_[static_cast<std::size_t>(element)]; }

 private:
  Group(std::vector<std::string> names, std::vector<std::uint16_t> table);
  static Group cyclic(std::int64_t n);
  static Group permutations(std::int64_t n, bool even_only);
  static Group direct_product(const Group& outer, const Group& inner);

  std::int64_t order_;
  std::vector<std::string> names_;
  std::vector<std::uint16_t> table_;  // [order, order], row a, column b: a * b
};

}  // namespace mneme::tasks
