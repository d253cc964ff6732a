// The sizes that paper B prints or that follow from it (appendices B, D and G), on whole models.
#include <gtest/gtest.h>

#include "models/model_testing.h"

namespace mneme::models {
namespace {

using namespace testing;

struct Row {
  const char* name;
  const char* model;  // under [model]
  std::int64_t small, large;
};

// Table 8: counting, one layer, hidden sizes 8 and 64.
constexpr Row kTable8[] = {
    {"RNN", "mixer = 'rnn'\nblock = 'plain'\nembed_width = 1\n", 99, 4355},
    {"LSTM", "mixer = 'lstm'\nblock = 'plain'\nembed_width = 1\n", 363, 17219},
    {"GRU", "mixer = 'gru'\nblock = 'plain'\nembed_width = 1\n", 275, 12931},
    {"NRU", "mixer = 'nru'\nblock = 'plain'\ninput = 'raw'\nnru = { variant = 'table8', memory_size = 64, k = 1 }\n",
     3205, 17093},
    {"Transformer",
     "mixer = 'transformer'\nblock = 'plain'\npositions = 'none'\ntransformer = { dim_feedforward = 128 }\n", 2529,
     33665},
    {"S4D", "mixer = 's4d'\nblock = 'postnorm'\ns4d = { d_state = 64 }\n", 1225, 16961},
    {"Mamba", "mixer = 'mamba'\nstate_mixer = 'none'\nfinal_norm = 'none'\nmamba = { d_state = 64 }\n", 3641, 51393},
};

TEST(Sizes, Table8OfPaperB) {
  for (const Row& row : kTable8)
    for (const bool large : {false, true}) {
      const config::RunConfig run = run_from(
          "task.name = 'counting'\n[model]\nlayers = 1\nwidth = " + std::string(large ? "64" : "8") + "\n" + row.model);
      const std::int64_t expected = large ? row.large : row.small;
      EXPECT_EQ(run.parameters(), expected) << row.name;
      EXPECT_EQ(measured_parameters(*build_model(run)), expected) << row.name;
    }
}

// Table 7: copying, one and two layers; 10 classes. The specification counts an input of 10 channels; ours has a
// table of 11 tokens (one is padding) by 10, or 11 raw channels.
struct SizedRow {
  const char* name;
  const char* model;
  std::int64_t width, layers, expected;
};
constexpr std::int64_t kInputTable = 11 * 10;
constexpr SizedRow kTable7[] = {
    {"RNN", "mixer = 'rnn'\nblock = 'plain'\nembed_width = 10\n", 216, 1, 51418 + kInputTable},
    {"RNN", "mixer = 'rnn'\nblock = 'plain'\nembed_width = 10\n", 200, 2, 124810 + kInputTable},
    {"LSTM", "mixer = 'lstm'\nblock = 'plain'\nembed_width = 10\n", 112, 1, 56682 + kInputTable},
    {"LSTM", "mixer = 'lstm'\nblock = 'plain'\nembed_width = 10\n", 96, 2, 116938 + kInputTable},
    {"GRU", "mixer = 'gru'\nblock = 'plain'\nembed_width = 10\n", 128, 1, 55050 + kInputTable},
    {"GRU", "mixer = 'gru'\nblock = 'plain'\nembed_width = 10\n", 112, 2, 118730 + kInputTable},
    {"NRU", "mixer = 'nru'\nblock = 'plain'\nembed_width = 10\nnru = { variant = 'table8' }\n", 128, 1,
     50944 + kInputTable},
    {"NRU", "mixer = 'nru'\nblock = 'plain'\nembed_width = 10\nnru = { variant = 'table8' }\n", 128, 2,
     119714 + kInputTable},
    // Linear(10, d) there, a map of 11 one-hot tokens here: one more row of d.
    {"Transformer",
     "mixer = 'transformer'\nblock = 'plain'\ninput = 'linear'\npositions = 'none'\ntransformer = { dim_feedforward = "
     "256 }\n",
     64, 1, 51338 + 64},
    {"S4D", "mixer = 's4d'\nblock = 'postnorm'\ninput = 'linear'\ns4d = { d_state = 2400 }\n", 10, 1, 48480 + 10},
    {"S4D", "mixer = 's4d'\nblock = 'postnorm'\ninput = 'linear'\ns4d = { d_state = 3000 }\n", 10, 2, 120740 + 10},
    {"Mamba", "mixer = 'mamba'\nblock = 'postnorm'\ninput = 'linear'\nmamba = { d_state = 256 }\n", 10, 1, 16380 + 10},
};

TEST(Sizes, Table7OfPaperB) {
  for (const SizedRow& row : kTable7) {
    const config::RunConfig run = run_from(
        "task.name = 'copying'\n[model]\nhead_bias = true\ntied = false\nwidth = " + std::to_string(row.width) +
        "\nlayers = " + std::to_string(row.layers) + "\n" + row.model);
    EXPECT_EQ(run.parameters(), row.expected) << row.name << " " << row.layers;
    EXPECT_EQ(measured_parameters(*build_model(run)), row.expected) << row.name << " " << row.layers;
  }
}

// Table 6: state tracking over 60 elements. The layer alone has the count of the specification.
TEST(Sizes, Table6OfPaperB) {
  const auto layer = [](const std::string& model, std::int64_t E, std::int64_t D, std::int64_t norms) {
    const config::RunConfig run =
        run_from("task.name = 'state_tracking'\n[model]\nlayers = 1\ntied = false\nhead_bias = true\nwidth = " +
                 std::to_string(D) + "\n" + model);
    return run.parameters() - 60 * E - (D + 1) * 60 - norms;
  };
  EXPECT_EQ(layer("mixer = 'rnn'\nblock = 'plain'\nembed_width = 256\n", 256, 768, 0), 768 * (256 + 768 + 2));
  EXPECT_EQ(layer("mixer = 'lstm'\nblock = 'plain'\nembed_width = 256\n", 256, 768, 0), 4 * 768 * (256 + 768 + 2));
  EXPECT_EQ(layer("mixer = 'ids4'\nblock = 'postnorm'\nids4 = { d_state = 128 }\n", 256, 256, 2 * 256), 4293249);
  EXPECT_EQ(layer("mixer = 's4d'\nblock = 'postnorm'\n", 1174, 1174, 2 * 1174),
            2 * 1174 * 1174 + 4 * 1174 + 2 * 1174 * 64);
  EXPECT_EQ(layer("mixer = 'transformer'\nblock = 'plain'\npositions = 'none'\ntransformer = { nhead = 8, "
                  "dim_feedforward = 2048, activation = 'gelu' }\n",
                  512, 512, 0),
            4 * 512 * 512 + 4 * 512 + 2 * 512 * 2048 + 2048 + 512 + 4 * 512);
}

// Paper A, table 1: 12 layers of 1024 channels on the copy task, in millions.
TEST(Sizes, Table1OfPaperA) {
  const auto millions = [](const std::string& model) {
    return static_cast<double>(run_from("task.name = 'copy'\n[model]\n" + model).parameters()) * 1e-6;
  };
  EXPECT_NEAR(millions("block = 'parallel'\nlayers = 12\nwidth = 1024\ntied = false\npositions = 'rope'\nattention = { "
                       "num_heads = 16, rope_pct = 0.25 }\n"),
              151.2, 0.1);
  const std::string mamba = "mixer = 'mamba'\nblock = 'mamba'\nmamba = { d_state = 32 }\n";
  EXPECT_NEAR(millions(mamba + "layers = 12\nwidth = 1024\n"), 81.2, 0.1);
  EXPECT_NEAR(millions(mamba + "layers = 24\nwidth = 1024\n"), 162.4, 0.1);
  EXPECT_NEAR(millions(mamba + "layers = 12\nwidth = 1408\n"), 152.2, 0.1);
}

}  // namespace
}  // namespace mneme::models
