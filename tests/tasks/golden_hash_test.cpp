// The bytes of every task are fixed: tests/data/task_hashes.json holds the SHA-256 of 1000 examples of
// each split. They must come out the same in any order, batch size and number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

#include "core/hash.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

constexpr std::size_t kExamples = 1000;
constexpr std::uint64_t kSeed = 42;

// All examples side by side, as a batch would hold them.
class Batch {
 public:
  explicit Batch(const TaskShape& shape) : length_(static_cast<std::size_t>(shape.length)) {
    if (shape.is_signal()) {
      signal_.resize(kExamples * length_);
      targets_.resize(kExamples * length_);
    } else {
      tokens_.resize(kExamples * length_);
      labels_.resize(kExamples * length_);
    }
  }

  ExampleView row(std::size_t i) {
    const auto part = [&](auto& numbers) {
      return numbers.empty() ? std::span(numbers) : std::span(numbers).subspan(i * length_, length_);
    };
    return {part(tokens_), part(labels_), part(signal_), part(targets_)};
  }

  // Little-endian int32 or float32, all inputs and then all answers.
  std::string hash() const {
    Sha256 hash;
    hash.update(std::as_bytes(std::span(tokens_)));
    hash.update(std::as_bytes(std::span(labels_)));
    hash.update(std::as_bytes(std::span(signal_)));
    hash.update(std::as_bytes(std::span(targets_)));
    return hash.hex();
  }

 private:
  std::size_t length_;
  std::vector<std::int32_t> tokens_, labels_;
  std::vector<float> signal_, targets_;
};

const Json& golden() {
  static const Json file = testing::load_data("task_hashes.json");
  return file;
}

class GoldenHash : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Json& fixed() const { return golden().at(GetParam()); }
  std::unique_ptr<Task> task() const { return testing::make_task(fixed().at("task"), fixed().at("options")); }

  // The hash when `write(i)` is called in whatever way `visit` likes.
  using Visit = std::function<void(const std::function<void(std::size_t)>& write)>;
  static std::string hash_of(const Task& task, Split split, const Visit& visit) {
    Batch batch(task.shape());
    const ExampleSource source(task, kSeed, split);
    visit([&](std::size_t i) { source.write(i, batch.row(i)); });
    return batch.hash();
  }
};

void in_order(const std::function<void(std::size_t)>& write) {
  for (std::size_t i = 0; i < kExamples; ++i) write(i);
}

TEST_P(GoldenHash, IsUnchanged) {
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const std::string name(split_name(split));
    EXPECT_EQ(hash_of(*task(), split, in_order), fixed().at(name).get<std::string>()) << name;
  }
}

TEST_P(GoldenHash, DoesNotDependOnOrderBatchesThreadsOrTheTaskObject) {
  const auto one = task(), another = task();
  const std::string expected = hash_of(*one, Split::train, in_order);
  EXPECT_EQ(expected, hash_of(*another, Split::train,
                              [](const auto& write) {
                                for (std::size_t i = kExamples; i > 0; --i) write(i - 1);
                              }))
      << "backwards";
  EXPECT_EQ(expected, hash_of(*one, Split::train,
                              [](const auto& write) {
                                std::vector<std::uint32_t> order(kExamples);
                                shuffled(order, 3, 4);
                                for (const std::uint32_t i : order) write(i);
                                for (const std::uint32_t i : order) write(i);
                              }))
      << "shuffled, twice";
  for (const std::size_t threads : {2, 7}) {
    EXPECT_EQ(expected, hash_of(*one, Split::train,
                                [threads](const auto& write) {
                                  std::vector<std::thread> workers;
                                  for (std::size_t worker = 0; worker < threads; ++worker)
                                    workers.emplace_back([&write, worker, threads] {
                                      for (std::size_t i = worker; i < kExamples; i += threads) write(i);
                                    });
                                  for (std::thread& worker : workers) worker.join();
                                }))
        << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, GoldenHash, ::testing::Range<std::size_t>(0, golden().size()), [](const auto& test) {
  return golden().at(test.param).at("name").template get<std::string>();
});

TEST(GoldenHashes, ThereIsOneForEveryTask) {
  for (const TaskEntry& entry : task_list())
    EXPECT_TRUE(std::any_of(golden().begin(), golden().end(), [&](const Json& fixed) {
      return fixed["task"] == entry.name;
    })) << entry.name;
}

}  // namespace
}  // namespace mneme::tasks
