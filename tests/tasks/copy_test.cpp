#include "tasks/copy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "core/text.h"
#include "tasks/protocols.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::count_labels;
using testing::make_example;
using testing::make_task;

constexpr std::int32_t kStop = 28;

std::string text_of(const Task& task, const Example& example) {
  std::string text;
  for (const std::int32_t token : example.tokens) text += task.token_text(token);
  return text;
}

// The labels, each under its position; '-' where there is none.
std::string labels_of(const Task& task, const Example& example) {
  std::string text;
  for (const std::int32_t label : example.labels) text += label == kUnlabelled ? "-" : task.token_text(label);
  return text;
}

RC_GTEST_PROP(Copy, LabelsAreTheNextInputTokens, ()) {
  const auto variant = *rc::gen::element<std::string>("copy", "prefix_ngram", "suffix_ngram", "duplicate_ngram");
  const auto task = make_task("copy", {"variant=" + variant, "min_length=6", "max_length=11", "context=80",
                                       "letters=" + std::to_string(*rc::gen::inRange(2, 27))});
  const auto split = *rc::gen::element(Split::train, Split::test);
  const Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>(), split);
  for (std::size_t t = 0; t + 1 < example.tokens.size(); ++t)
    if (example.labels[t] != kUnlabelled) RC_ASSERT(example.labels[t] == example.tokens[t + 1]);
}

// Reads each packed text as a person would, from its letters.
TEST(Copy, PackedTextsAreAskedForTheirAnswersOnly) {
  const auto task = make_task("copy", {"min_length=3", "max_length=9", "context=60"});
  bool full = false;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Example example = make_example(*task, i);
    const std::string labels = labels_of(*task, example);
    // The label of the last position is the one token of the context that is not an input.
    std::string text = text_of(*task, example);
    full = full || labels.back() == '.';
    text += labels.back() == '-' ? '?' : labels.back();
    std::string expected;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bar = text.find('|', at), length = bar == text.npos ? 0 : bar - at - 1;
      if (bar == text.npos || bar + length + 1 >= text.size()) {
        expected += std::string(text.size() - at, '-');
        break;
      }
      const std::string string = text.substr(at + 1, length);
      ASSERT_GE(length, 3U);
      ASSERT_LE(length, 9U);
      ASSERT_EQ(text.substr(at, 2 * length + 3), "$" + string + "|" + string + ".");
      expected += std::string(length + 2, '-') + string + ".";
      at += 2 * length + 3;
    }
    ASSERT_EQ(labels, expected.substr(1)) << text;
  }
  EXPECT_TRUE(full) << "no context was filled to the last token, the corner was not tested";
}

TEST(Copy, EvaluationHasOneTextPerRow) {
  const auto task = make_task("copy", {"min_length=3", "max_length=9", "context=40"});
  std::set<std::size_t> lengths;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Example example = make_example(*task, i, Split::validation);
    const std::string text = text_of(*task, example);
    const std::size_t length = text.find('|') - 1;
    lengths.insert(length);
    ASSERT_EQ(text, "$" + text.substr(1, length) + "|" + text.substr(1, length) + "." +
                        std::string(39 - 2 * length - 3, '*'));
    ASSERT_EQ(count_labels(example), length + 1);
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{3, 4, 5, 6, 7, 8, 9}));
}

TEST(Copy, AnswerLengthCutsTheAnswer) {
  const auto task = make_task("copy", {"min_length=8", "max_length=8", "answer=3", "context=14"});
  const Example example = make_example(*task, 0, Split::test);
  const std::string text = text_of(*task, example);
  EXPECT_EQ(text.substr(9), "|" + text.substr(1, 3));
  EXPECT_EQ(labels_of(*task, example), "---------" + text.substr(1, 3) + ".");
}

void expect_ngram_text(const std::string& variant, const std::string& text, std::size_t n, std::size_t answer) {
  const std::string body = text.substr(1, text.find('.') - 1);
  const auto parts = split(body, '|');
  std::string ngram, string, rest;
  if (variant == "prefix_ngram") {
    ASSERT_EQ(parts.size(), 3U);
    ngram = parts[0], string = parts[1], rest = parts[2];
  } else {
    ASSERT_EQ(parts.size(), 2U);
    string = parts[0], ngram = parts[1].substr(0, n), rest = parts[1].substr(n);
  }
  ASSERT_EQ(ngram.size(), n);
  const std::size_t at = string.find(ngram);
  ASSERT_NE(at, string.npos);
  const std::string follows = string.substr(at + n);
  ASSERT_EQ(rest, answer == 0 ? follows : follows.substr(0, answer)) << text;
  ASSERT_FALSE(rest.empty());
}

TEST(Copy, NgramVariantsAskWhatFollowsTheFirstOccurrence) {
  for (const std::string variant : {"prefix_ngram", "suffix_ngram"})
    for (const std::size_t answer : {0, 3})
      for (const std::size_t letters : {2, 26}) {
        const auto task = make_task("copy", {"variant=" + variant, "min_length=8", "max_length=14",
                                             "answer=" + std::to_string(answer), "letters=" + std::to_string(letters)});
        for (std::uint64_t i = 0; i < 500; ++i) {
          const Example example = make_example(*task, i, Split::test);
          const std::string text = text_of(*task, example);
          expect_ngram_text(variant, text, 2, answer);
          // Asked: exactly the answer and its stop, each one position early.
          const std::size_t stop = text.find('.'), count = count_labels(example);
          for (std::size_t t = 0; t < text.size(); ++t)
            ASSERT_EQ(example.labels[t] != kUnlabelled, t + 1 + count > stop && t < stop) << text << t;
        }
      }
}

TEST(Copy, DuplicateNgramLeavesNoTraceOfTheReplacedOne) {
  const auto task = make_task("copy", {"variant=duplicate_ngram", "min_length=12", "max_length=12", "ngram=3"});
  int repeated = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::string text = text_of(*task, make_example(*task, i, Split::test)), string = text.substr(1, 12);
    ASSERT_EQ(text.substr(0, 27), "$" + string + "|" + string + ".");
    std::set<std::string> ngrams;
    for (std::size_t at = 0; at + 3 <= 12; ++at) ngrams.insert(string.substr(at, 3));
    repeated += ngrams.size() < 10;
  }
  // Overlapping picks can undo the repeat; without replacement about one string in 400 has one.
  EXPECT_GT(repeated, 250);
}

TEST(Copy, StringScoreIgnoresTheStopAndWantsEveryLetter) {
  const auto task = make_task("copy", {"min_length=3", "max_length=9", "context=60"});
  StringScore perfect(kStop), wrong_stop(kStop), one_letter(kStop);
  std::int64_t letters = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Example example = make_example(*task, i);
    perfect.add(example.labels, example.labels);
    auto predictions = example.labels;
    for (auto& prediction : predictions)
      if (prediction == kStop) prediction = 0;
    wrong_stop.add(predictions, example.labels);
    predictions = example.labels;
    for (auto& prediction : predictions) {
      letters += prediction != kUnlabelled && prediction != kStop;
      if (prediction >= 0 && prediction < kStop) {
        prediction = 27;  // the first letter of the first string
        break;
      }
    }
    one_letter.add(predictions, example.labels);
  }
  EXPECT_EQ(perfect.string_accuracy(), 1.0);
  EXPECT_EQ(wrong_stop.string_accuracy(), 1.0);
  EXPECT_EQ(wrong_stop.character_accuracy(), 1.0);
  EXPECT_DOUBLE_EQ(one_letter.string_accuracy(), 1.0 - 50.0 / static_cast<double>(one_letter.strings()));
  EXPECT_LT(one_letter.character_accuracy(), 1.0);
}

}  // namespace
}  // namespace mneme::tasks
