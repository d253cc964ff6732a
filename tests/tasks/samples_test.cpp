// Agreement with the samples of the reference code in tests/data/task_samples: same layout, same labels.
#include <gtest/gtest.h>

#include "tasks/phase_tests.h"
#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::load_data;
using testing::make_task;
using Tokens = std::vector<std::int32_t>;

Json sample_file(const std::string& name) { return load_data("task_samples/" + name + ".json"); }

// By value: a loop over a member of a temporary would outlive it.
Json samples(const std::string& name) {
  Json list = sample_file(name).at("samples");
  EXPECT_GE(list.size(), 3U) << name;
  return list;
}

std::string assignment(const std::string& key, const Json& value) { return key + "=" + value.dump(); }

// The task with these options has the sample's shape, and its solution gives the sample's labels.
void expect_agreement(const std::string& name, const std::vector<std::string>& options, const Json& sample,
                      const std::string& label_key = "label") {
  SCOPED_TRACE(name + " " + sample.dump());
  const auto task = make_task(name, options);
  const TaskShape shape = task->shape();
  const Tokens input = sample["input"], labels = sample[label_key];
  ASSERT_EQ(static_cast<std::size_t>(shape.length), input.size());
  for (const std::int32_t token : input) EXPECT_LT(token, shape.vocab);
  for (const std::int32_t label : labels) EXPECT_LT(label, shape.classes);
  const Tokens solved = task->solve(input);
  // Random filler can look like a question: then only what is asked is compared.
  const bool exact = !sample.value("random_filler", false);
  for (std::size_t t = 0; t < labels.size(); ++t)
    if (exact || labels[t] != kUnlabelled) {
      EXPECT_EQ(solved[t], labels[t]) << "position " << t;
    }
}

TEST(Samples, Mqar) {
  const auto compare = [](const std::string& file, const std::string& vocabulary) {
    for (Json sample : samples(file)) {
      const Json& config = sample["config"];
      const bool random_filler = config["random_non_queries"];
      sample["random_filler"] = random_filler;
      expect_agreement("mqar",
                       {assignment("length", config["input_seq_len"]), assignment("pairs", config["num_kv_pairs"]),
                        assignment("vocab", config["vocab_size"]), "vocabulary=" + vocabulary,
                        random_filler ? "filler=random" : "filler=zero"},
                       sample);
    }
  };
  compare("mqar", "split");
  compare("mqar_shared_vocab", "shared");
}

TEST(Samples, ForgettingMqar) {
  const Json config = sample_file("forgetting_mqar").at("config");
  for (const Json& sample : samples("forgetting_mqar"))
    expect_agreement(
        "forgetting_mqar",
        {assignment("length", config["input_seq_len"]), assignment("pairs", config["num_kv_pairs"]),
         assignment("updates", config["num_updates"]), assignment("vocab", config["vocab_size"]), "filler=zero"},
        sample);
}

TEST(Samples, CompositionalMqar) {
  const Json config = sample_file("compositional_mqar").at("config");
  for (const Json& sample : samples("compositional_mqar"))
    expect_agreement("compositional_mqar",
                     {assignment("length", config["input_seq_len"]), assignment("pairs", config["num_kv_pairs"]),
                      assignment("vocab", config["vocab_size"]), "filler=zero"},
                     sample);
}

TEST(Samples, Ar) {
  for (const Json& sample : samples("ar"))
    expect_agreement(
        "ar",
        {assignment("pairs", sample["config"]["num_kv_pairs"]), assignment("vocab", sample["config"]["vocab_size"])},
        sample);
}

TEST(Samples, Induction) {
  for (const Json& sample : samples("induction_heads"))
    expect_agreement("induction",
                     {assignment("length", sample["config"]["L"]), assignment("vocab", sample["config"]["vocab"])},
                     sample);
}

TEST(Samples, Copy) {
  for (const Json& sample : samples("copy")) {
    const Json& config = sample["config"];
    const std::string task = config["task"];
    const Json shortest = config.value("min_length", config.value("length", Json())),
               longest = config.value("max_length", config.value("length", Json()));
    std::vector<std::string> options = {assignment("context", config["context"]), assignment("min_length", shortest),
                                        assignment("max_length", longest),
                                        assignment("answer", config["length_answer"]), "variant=" + task};
    if (task != "copy") options.push_back(assignment("ngram", config["n_gram"]));
    expect_agreement("copy", options, sample);

    // The text is the input and the last label, as letters.
    const auto copy = make_task("copy", options);
    std::string text;
    for (const std::int32_t token : sample["input"].get<Tokens>()) text += copy->token_text(token);
    const std::string expected = sample["text"];
    EXPECT_EQ(text.substr(0, expected.size()), expected.substr(0, text.size()));
  }
}

TEST(Samples, CopyingAndDenoising) {
  for (const std::string name : {"copying", "denoising"})
    for (const Json& sample : samples(name)) {
      // A sample that is padded comes from a mixture with a longer pattern.
      const std::size_t pattern = sample["config"]["S"], blanks = sample["config"]["T"];
      const std::size_t longest = (sample["input"].size() - blanks) / 2;
      const std::vector<std::string> options = {assignment("pattern", Json::array({pattern, longest})),
                                                assignment("blanks", blanks)};
      expect_agreement(name, options, sample);
      expect_agreement(name, {options[0], options[1], "loss=all"}, sample, "label_all_positions");
    }
}

TEST(Samples, StateTracking) {
  for (const Json& sample : samples("state_tracking")) {
    const std::string group = sample["config"]["group"];
    expect_agreement("state_tracking",
                     {"group=" + (group == "A4_x_Z5" ? "A4xZ5" : group), assignment("length", sample["config"]["k"]),
                      assignment("bos", sample["config"].value("bos", false))},
                     sample);
  }
}

TEST(Samples, Bits) {
  for (const std::string name : {"parity", "majority", "cumulative_parity"})
    for (const Json& sample : samples("zoology_" + name))
      expect_agreement(name, {assignment("length", sample["input"].size())}, sample);
}

TEST(Samples, Chomsky) {
  for (const Json& sample : samples("chomsky")) {
    const std::string described = sample["config"]["task"], name = described.substr(0, described.find(' '));
    std::size_t n = 0;
    while (sample["label"][n] == kUnlabelled) ++n;
    expect_agreement(name, {assignment("min_length", n), assignment("max_length", n)}, sample);
    const auto task = make_task(name);
    EXPECT_EQ(task->shape().vocab, sample["config"]["empty_token"].get<int>() + 2) << name;
  }
}

TEST(Samples, Counting) {
  for (const Json& sample : samples("counting")) {
    const std::vector<float> input = sample["input"], labels = sample["label"];
    const Json& config = sample["config"];
    SignalPair signal;
    if (config.contains("segments")) {
      std::vector<Segment> segments;
      for (const Json& segment : config["segments"]) segments.push_back({segment[0] == 1, segment[1]});
      signal = signal_from_segments(segments);
      const Timing timing{10, 20, 40};
      const std::string test = config["test"];
      const SignalPair made =
          test == "two_isi" ? two_isi_signal(timing) : double_isi_signal(timing, test == "double_isi" ? 0 : 1);
      EXPECT_EQ(made.input, signal.input) << test;
      EXPECT_EQ(made.targets, signal.targets) << test;
    } else {
      // The lengths of the intervals and of the stimuli, all but the last, are as the options say.
      std::vector<Segment> segments;
      for (const float step : input) {
        if (segments.empty() || segments.back().on != (step == 1)) segments.push_back({step == 1, 0});
        ++segments.back().steps;
      }
      for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        EXPECT_GE(segments[i].steps, segments[i].on ? config["isi"].get<int>() : config["iti"][0].get<int>());
        EXPECT_LE(segments[i].steps, segments[i].on ? config["isi"].get<int>() : config["iti"][1].get<int>());
      }
      segments.push_back({labels.back() == 1, 1});
      signal = signal_from_segments(segments);
      const auto task = make_task("counting", {assignment("length", config["length"]), assignment("isi", config["isi"]),
                                               assignment("iti", config["iti"])});
      EXPECT_EQ(static_cast<std::size_t>(task->shape().length), input.size());
    }
    EXPECT_EQ(signal.input, input);
    EXPECT_EQ(signal.targets, labels);
  }
}

}  // namespace
}  // namespace mneme::tasks
