// What holds for every task on the list, over random options.
#include "tasks/task.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>

#include "core/error.h"
#include "support/expect_error.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::count_labels;
using testing::error_of;
using ::testing::HasSubstr;
using testing::make_example;
using testing::make_task;

// Random options of a task: each field anywhere between its limits and small sizes, so that tests stay
// fast and corners are met often. Combinations that the task refuses are drawn again.
struct RandomTask {
  Options options;
  std::unique_ptr<Task> task;
};

Json random_value(const Field& field) {
  const auto integer = [&field](std::int64_t most) {
    const auto low = static_cast<std::int64_t>(field.min);
    return *rc::gen::inRange<std::int64_t>(low, std::min(static_cast<std::int64_t>(field.max), low + most) + 1);
  };
  switch (field.type) {
    case FieldType::flag: return *rc::gen::arbitrary<bool>();
    case FieldType::integer: return integer(*rc::gen::element(4, 40, 150));
    case FieldType::real: return *rc::gen::element(0.01, 1.0, 0.5, 2.0, -3.0);
    case FieldType::choice: return *rc::gen::elementOf(field.choices);
    case FieldType::text: return *rc::gen::element("Z2", "Z60", "A3", "A5", "S3", "A4xZ5", "S3xZ2xZ3");
    case FieldType::reals:
    case FieldType::texts: return Json::array();
    case FieldType::integers: {
      Json list = Json::array();
      for (int i = *rc::gen::inRange(1, 3); i > 0; --i) list.push_back(integer(30));
      return list;
    }
  }
  return {};
}

RandomTask random_task(const TaskEntry& entry) {
  for (int tries = 0; tries < 2000; ++tries) {
    Options options = testing::task_options(entry.name);
    for (const Field& field : entry.options)
      if (*rc::gen::inRange(0, 4) > 0) options.set(field.name, random_value(field));
    try {
      auto task = entry.build(options);
      return {options, std::move(task)};
    } catch (const Error& error) {
      RC_ASSERT(error.kind() == ErrorKind::usage);
    }
  }
  RC_FAIL("no valid options of " + entry.name + " in 2000 tries");
}

class EveryTask : public ::testing::TestWithParam<std::string> {
 protected:
  const TaskEntry& entry() const { return find_task(GetParam()); }

  template <class Property>
  void holds(Property property) {
    rc::detail::TestParams params;
    params.maxSuccess = 60;
    params.seed = 20240501;  // fixed: a statistical bound must not fail by chance
    const auto result = rc::detail::checkTestable(property, rc::detail::TestMetadata{GetParam(), GetParam()}, params);
    if (!result.template is<rc::detail::SuccessResult>()) {
      std::ostringstream text;
      rc::detail::printResultMessage(result, text);
      ADD_FAILURE() << text.str();
    }
  }
};

TEST_P(EveryTask, FillsItsShape) {
  holds([this] {
    const auto [options, task] = random_task(entry());
    const TaskShape shape = task->shape();
    const auto split = *rc::gen::element(Split::train, Split::validation, Split::test);
    Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>(), split);
    RC_LOG(options.values().dump());
    if (shape.is_signal()) {
      RC_ASSERT(example.tokens.empty());
      for (const float step : example.signal) RC_ASSERT(step == 0.0F || step == 1.0F);
      for (const float step : example.targets) RC_ASSERT(step == 0.0F || step == 1.0F);
    } else {
      RC_ASSERT(example.signal.empty());
      for (const std::int32_t token : example.tokens) RC_ASSERT(token >= 0 && token < shape.vocab);
      for (const std::int32_t label : example.labels)
        RC_ASSERT(label == kUnlabelled || (label >= 0 && label < shape.classes));
      RC_ASSERT(count_labels(example) > 0U || split == Split::train);
    }
    RC_ASSERT(task->roles(example.view()).size() == static_cast<std::size_t>(shape.length));
    RC_ASSERT(task->chance() > 0.0);
    RC_ASSERT(task->chance() <= 1.0);
  });
}

TEST_P(EveryTask, LabelsFollowFromTheTokens) {
  holds([this] {
    const auto [options, task] = random_task(entry());
    if (task->shape().is_signal()) return;
    RC_LOG(options.values().dump());
    const auto split = *rc::gen::element(Split::train, Split::test);
    Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>(), split);
    const auto solved = task->solve(example.tokens);
    const bool filler_can_look_labelled = options.values().value("filler", "") == "random";
    for (std::size_t t = 0; t < solved.size(); ++t)
      if (example.labels[t] != kUnlabelled || !filler_can_look_labelled) RC_ASSERT(solved[t] == example.labels[t]);
  });
}

TEST_P(EveryTask, SourcesPrecedeTheirQuestions) {
  holds([this] {
    const auto [options, task] = random_task(entry());
    Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>());
    const auto sources = task->sources(example.view());
    if (sources.empty()) return;
    RC_ASSERT(sources.size() == example.tokens.size());
    for (std::size_t t = 0; t < sources.size(); ++t) {
      if (sources[t] < 0) continue;
      RC_ASSERT(example.labels[t] != kUnlabelled);
      RC_ASSERT(static_cast<std::size_t>(sources[t]) < t);
    }
  });
}

TEST_P(EveryTask, DeclaresHowManyPositionsAreAsked) {
  holds([this] {
    const auto [options, task] = random_task(entry());
    const TaskShape shape = task->shape();
    if (shape.is_signal()) return;
    RC_LOG(options.values().dump());
    constexpr int kExamples = 400;
    double labels = 0, squares = 0;
    for (int i = 0; i < kExamples; ++i) {
      const auto count = static_cast<double>(count_labels(make_example(*task, static_cast<std::uint64_t>(i))));
      labels += count;
      squares += count * count;
    }
    const double mean = labels / kExamples;
    const double error = std::sqrt(std::max(0.0, squares / kExamples - mean * mean) / kExamples);
    // The declared number may itself be measured on a few dozen examples.
    RC_ASSERT(std::abs(mean - shape.labelled) <= 5 * error + 0.12 * shape.labelled + 1e-9);
  });
}

TEST_P(EveryTask, SplitsAndSeedsAreDifferentStreams) {
  const auto task = entry().build(defaults(entry().options, "task"));
  const auto stream = [&](Split split, std::uint64_t seed) {
    std::vector<std::vector<double>> rows;
    for (std::uint64_t index = 0; index < 20; ++index) {
      const Example example = make_example(*task, index, split, seed);
      std::vector<double> row(example.tokens.begin(), example.tokens.end());
      row.insert(row.end(), example.signal.begin(), example.signal.end());
      rows.push_back(std::move(row));
    }
    return rows;
  };
  const auto train = stream(Split::train, 1);
  EXPECT_EQ(train, stream(Split::train, 1));
  EXPECT_NE(train, stream(Split::validation, 1));
  EXPECT_NE(train, stream(Split::test, 1));
  EXPECT_NE(stream(Split::validation, 1), stream(Split::test, 1));
  EXPECT_NE(train, stream(Split::train, 2));
}

TEST_P(EveryTask, BuildsAtEveryPointOfItsAxes) {
  const Options base = defaults(entry().options, "task");
  for (const GeneralisationAxis& axis : entry().axes)
    for (const std::int64_t value : axis.values) {
      if (value > 5000) continue;  // as good as the smaller ones, and slow
      const Options moved = at_axis_value(base, axis, value);
      const auto task = entry().build(moved);
      EXPECT_NO_THROW(make_example(*task, 0, Split::test)) << axis.option << "=" << value;
    }
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const TaskEntry& entry : task_list()) names.push_back(entry.name);
                           return names;
                         }()),
                         [](const auto& test) { return test.param; });

TEST(TaskList, NamesAreUniqueAndEntriesComplete) {
  std::set<std::string> names;
  for (const TaskEntry& entry : task_list()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty() || entry.citation.empty() || entry.layout.empty()) << entry.name;
    EXPECT_FALSE(entry.metrics.empty() || entry.axes.empty()) << entry.name;
    for (const Field& field : entry.options) EXPECT_FALSE(field.help.empty()) << entry.name << "." << field.name;
  }
}

TEST(TaskList, SuggestsTheNearestName) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { find_task("mqra"); }), HasSubstr("did you mean 'mqar'?"));
}

struct Refusal {
  std::string task;
  std::vector<std::string> assignments;
  std::string says;
};

TEST(TaskList, RefusesImpossibleSizesWithTheLimit) {
  const std::vector<Refusal> refusals = {
      {"mqar", {"pairs=0"}, "task.pairs: got 0, expected an integer from 1"},
      {"mqar", {"pairs=17"}, "expected at most length / 4 = 16"},
      {"mqar", {"length=63"}, "expected a multiple of 2"},
      {"mqar", {"vocab=64"}, "expected more than length = 64"},
      {"mqar", {"vocabulary=shared", "vocab=4"}, "expected more than pairs = 4"},
      {"mqar", {"vocabulary=common"}, "expected one of split, shared"},
      {"forgetting_mqar", {"updates=9"}, "expected at most pairs = 8"},
      {"forgetting_mqar", {"length=38"}, "expected at least 40"},
      {"compositional_mqar", {"pairs=5"}, "a square number"},
      {"compositional_mqar", {"length=21"}, "expected at least 24"},
      {"compositional_mqar", {"length=64"}, "expected a multiple of 3"},
      {"ar", {"pairs=25"}, "expected at most vocab / 2 - 1 = 24"},
      {"induction", {"length=2"}, "expected an integer from 3"},
      {"copy", {"max_length=4"}, "expected at least min_length = 5"},
      {"copy", {"max_length=109"}, "expected at least 221, the longest text"},
      {"copy", {"letters=27"}, "expected an integer from 1 to 26"},
      {"copy", {"variant=prefix_ngram", "ngram=3"}, "expected at least 6"},
      {"copy", {"variant=suffix_ngram", "letters=1"}, "expected at least 2"},
      {"copying", {"pattern=0"}, "expected an integer from 1"},
      {"copying", {"blanks=[10, 0]"}, "expected an integer from 1"},
      {"denoising", {"loss=some"}, "expected one of recall, all"},
      {"state_tracking", {"group=B5"}, "expected Z, A or S with a number from 1"},
      {"state_tracking", {"group=Z"}, "expected Z, A or S with a number from 1"},
      {"state_tracking", {"group=A4xx5"}, "not ''"},
      {"state_tracking", {"group=Z1"}, "expected a group of at least 2 elements"},
      {"state_tracking", {"group=A2xS1"}, "expected a group of at least 2 elements"},
      {"state_tracking", {"group=S7"}, "expected a group of at most 2520 elements"},
      {"state_tracking", {"group=Z99999999999999"}, "expected a group of at most 2520 elements"},
      {"state_tracking", {"min_length=9"}, "expected at most length = 8"},
      {"counting", {"iti=[40, 20]"}, "expected one number, or a list [shortest, longest]"},
      {"counting", {"iti=[1, 2, 3]"}, "expected one number, or a list [shortest, longest]"},
      {"counting", {"length=20"}, "expected more than the shortest interval 20"},
      {"parity", {"length=1"}, "expected an integer from 2"},
      {"vocab_majority", {"vocab=2"}, "expected an integer from 3"},
      {"modular_arithmetic", {"min_length=6", "max_length=6"}, "a range with an odd length"},
      {"solve_equation", {"min_length=2"}, "expected an integer from 3"},
      {"reverse_string", {"min_length=9", "max_length=8"}, "expected at least min_length = 9"},
      {"parity", {"lenght=5"}, "unknown key 'lenght', did you mean 'length'?"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.task + " " + refusal.assignments.back());
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { make_task(refusal.task, refusal.assignments); }),
                HasSubstr(refusal.says));
  }
}

TEST(Split, HasNames) {
  for (const Split split : {Split::train, Split::validation, Split::test})
    EXPECT_EQ(parse_split(split_name(split)), split);
  EXPECT_THAT(error_of(ErrorKind::usage, [] { parse_split("dev"); }), HasSubstr("expected train, validation or test"));
}

}  // namespace
}  // namespace mneme::tasks
