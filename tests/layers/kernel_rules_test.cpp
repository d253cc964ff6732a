// Rules of the kernels and of their tests that no compiler checks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/text.h"
#include "support/places.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Relative path -> text.
using Texts = std::map<std::string, std::string>;

Texts texts_in(const std::string& folder) {
  Texts texts;
  const Path root(source_directory());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
    if (entry.is_regular_file())
      texts[std::filesystem::relative(entry.path(), root).generic_string()] = read_file(entry.path());
  return texts;
}

// Memory that can be missing without anybody noticing: AlignedArray asks for it, checks it and throws, nobody else.
std::vector<std::string> unchecked_allocations(const Texts& texts) {
  static const std::regex kAllocation(
      R"(\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|AllocateAligned\w*|MakeUniqueAligned\w*)\b|std::nothrow)");
  std::vector<std::string> found;
  for (const auto& [path, text] : texts) {
    if (path == "src/kernels/simd/aligned_floats.cpp") continue;
    std::size_t number = 0;
    for (const std::string& line : split(text, '\n')) {
      ++number;
      if (std::regex_search(line, kAllocation)) found.push_back(fmt::format("{}:{}", path, number));
    }
  }
  return found;
}

TEST(KernelRules, MemoryComesFromOnePlaceThatChecksIt) {
  const Texts texts = texts_in("src/kernels");
  ASSERT_GT(texts.size(), 60U);
  EXPECT_THAT(unchecked_allocations(texts), IsEmpty());
}

TEST(KernelRules, APlantedUncheckedAllocationIsReported) {
  EXPECT_THAT(unchecked_allocations(
                  {{"src/kernels/a.cpp", "int x;\nauto rows = hwy::AllocateAligned<float>(n);\n"},
                   {"src/kernels/b.cpp", "float* p = (float*)malloc(4);\n"},
                   {"src/kernels/c.cpp", "const AlignedFloats rows(n);\nauto q = new (std::nothrow) float[3];\n"},
                   {"src/kernels/simd/aligned_floats.cpp", "hwy::AllocateAlignedBytes(1, 0, 0);\n"}}),
              ElementsAre("src/kernels/a.cpp:2", "src/kernels/b.cpp:1", "src/kernels/c.cpp:2"));
}

// "// Worst seen ...: 3e-7" in the comment above, and no more than what is allowed.
std::vector<std::string> tolerances_without_measurement(const Texts& texts) {
  static const std::regex kTolerance(R"(constexpr double k\w*Tolerance = ([0-9.e-]+);)");
  static const std::regex kWorst(R"(// .*[Ww]orst seen[^:]*: ([0-9.]+(e-?[0-9]+)?))");
  std::vector<std::string> found;
  for (const auto& [path, text] : texts) {
    double worst = -1;
    for (const std::string& line : split(text, '\n')) {
      std::smatch match;
      if (std::regex_search(line, match, kWorst)) worst = std::stod(match[1]);
      if (std::regex_search(line, match, kTolerance)) {
        if (worst < 0 || worst > std::stod(match[1])) found.push_back(path + ": " + match[0].str());
        worst = -1;
      }
    }
  }
  return found;
}

TEST(KernelRules, EveryToleranceHasItsWorstErrorBesideIt) {
  const Texts texts = texts_in("tests/kernels");
  ASSERT_GT(texts.size(), 20U);
  EXPECT_THAT(tolerances_without_measurement(texts), IsEmpty());
}

TEST(KernelRules, APlantedToleranceWithoutMeasurementIsReported) {
  EXPECT_THAT(tolerances_without_measurement(
                  {{"a", "// Worst seen: 3e-7.\nconstexpr double kTolerance = 1e-6;\n"},
                   {"b", "constexpr double kTolerance = 1e-6;\n"},
                   {"c", "// Worst seen on any target: 3e-5.\nconstexpr double kTolerance = 1e-6;\n"}}),
              ElementsAre("b: constexpr double kTolerance = 1e-6;", "c: constexpr double kTolerance = 1e-6;"));
}

}  // namespace
}  // namespace mneme
