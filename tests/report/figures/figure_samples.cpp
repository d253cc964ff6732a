#include "report/figures/figure_samples.h"

#include <cmath>

namespace mneme::testing {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rounded(double x) { return std::round(x * 1e4) / 1e4; }

report::ResultRow named_row(const std::string& mixer, int number, double rate, int seed, double accuracy) {
  report::ResultRow row = sample_row(mixer, rate, seed, rounded(accuracy));
  row.run += "-" + std::to_string(number);
  return row;
}

}  // namespace

std::vector<report::ResultRow> extrapolation_rows() {
  struct Model {
    const char* mixer;
    double reach;
  };
  std::vector<report::ResultRow> rows;
  for (const int layers : {1, 2})
    for (const Model& model : {Model{"lstm", 400}, Model{"mamba", 250.0 * layers}, Model{"s4d", 70}})
      for (const int seed : {1, 2, 3}) {
        report::ResultRow row = named_row(model.mixer, layers, 1e-3, seed, 0.99);
        row.config["task"] = {{"name", "copying"}, {"pattern", 10}, {"blanks", {10, 30, 50}}};
        row.config["model"]["layers"] = layers;
        Json points = Json::array();
        for (int blanks = 50; blanks <= 500; blanks += 50) {
          const double score = rounded(0.1 + 0.9 * sigmoid((model.reach + 30 * (seed - 2) - blanks) / 25));
          points.push_back({{"value", blanks}, {"accuracy", score}, {"exact_match", rounded(score * score)}});
        }
        row.values["generalisation"] = {{"axis", "blanks"}, {"points", points}};
        rows.push_back(std::move(row));
      }
  // One that diverged was never tested.
  rows.back().outcome = "diverged";
  rows.back().values = Json::object();
  return rows;
}

std::vector<report::ResultRow> place_rows() {
  std::vector<report::ResultRow> rows;
  for (const char* mixer : {"attention", "mamba"})
    for (const int seed : {1, 2, 3}) {
      report::ResultRow row = named_row(mixer, 0, 1e-3, seed, 0.9);
      const double reach = std::string(mixer) == "mamba" ? 12 : 200;
      for (const int from : {4, 8, 16, 32}) {
        const double score = rounded(sigmoid((reach + seed - from) / 4));
        row.values["test"]["accuracy_by_distance"].push_back(
            {{"from", from}, {"to", 2 * from}, {"accuracy", score}, {"labelled", 100}});
        row.values["test"]["accuracy_by_position"].push_back(
            {{"from", from}, {"to", from + 1}, {"accuracy", score}, {"labelled", 100}});
      }
      rows.push_back(std::move(row));
    }
  return rows;
}

std::vector<report::ResultRow> matrix_rows() {
  std::vector<report::ResultRow> rows;
  for (const int width : {8, 64})
    for (const char* mixer : {"gru", "lstm", "rnn", "transformer"})
      for (const int seed : {1, 2, 3, 4, 5}) {
        const std::string name = mixer;
        report::ResultRow row = named_row(mixer, width, 1e-2, seed, name == "transformer" ? 0.4 : 0.97);
        row.config["task"] = {{"name", "counting"}, {"length", 200}};
        row.config["model"]["width"] = width;
        row.config["model"]["layers"] = 1;
        const bool good = name == "rnn" || (width == 64 && seed <= 3);
        row.values = {{"test", {{"accuracy", *row.test_accuracy}}},
                      {"phases", {{"two_isi", good && name != "transformer"}, {"double_isi", name == "rnn"}}}};
        rows.push_back(std::move(row));
      }
  return rows;
}

std::vector<report::ResultRow> width_rows() {
  std::vector<report::ResultRow> rows;
  int number = 0;
  for (const int length : {64, 256})
    for (const int layers : {1, 2})
      for (const char* mixer : {"attention", "mamba"})
        for (const int width : {32, 64, 128})
          for (const double rate : {1e-4, 4.6415888e-4, 1e-3, 2.1544347e-3, 1e-2})
            for (const int seed : {1, 2}) {
              const bool attends = std::string(mixer) == "attention";
              const double best =
                  attends ? (layers == 2 ? 0.98 : 0.3) : sigmoid(std::log2(width * layers / (length / 3.0)));
              const double distance = std::abs(std::log10(rate / 1e-3)) / (attends ? 1.5 : 0.4);
              report::ResultRow row =
                  named_row(mixer, ++number, rate, seed, best * std::exp(-distance * distance) + 0.005 * seed);
              row.config["task"]["length"] = length;
              row.config["task"]["pairs"] = length / 4;
              row.config["model"]["width"] = width;
              row.config["model"]["layers"] = layers;
              row.config["train"]["batch"] = 16384 / length;
              row.values["parameters"] = layers * (attends ? 12 : 6) * width * width + 8192 * width;
              rows.push_back(std::move(row));
            }
  return rows;
}

std::vector<report::ResultRow> dynamics_rows(bool all_rates) {
  std::vector<report::ResultRow> rows;
  if (all_rates) {
    rows = dynamics_rows(false);
    for (const report::ResultRow& row : dynamics_rows(false)) {
      rows.push_back(row);
      rows.back().run += "-fast";
      rows.back().config["train"]["lr"] = 1e-2;
      for (report::MetricPoint& point : rows.back().metrics) point.loss = rounded(0.5 + point.loss / 2);
    }
    return rows;
  }
  for (const char* mixer : {"attention", "mamba"})
    for (const int seed : {1, 2, 3}) {
      const bool attends = std::string(mixer) == "attention";
      report::ResultRow row = named_row(mixer, 0, 1e-3, seed, attends ? 0.04 : 0.99);
      row.config["model"]["layers"] = 1;
      for (int step = 0; step <= 2000; step += 50) {
        const double start = (attends ? 900 : 700) + 60 * seed;
        const double fall = sigmoid((step - start) / (attends ? 40.0 : 120.0));
        const double loss = attends ? 4.1 - 1.2 * fall : 4.1 - 4.0 * fall;
        row.metrics.push_back({.step = step,
                               .train_loss = rounded(loss + 0.004 * std::sin(step + seed)),
                               .loss = rounded(loss + 0.05),
                               .accuracy = rounded(attends ? 0.02 + 0.02 * fall : 0.02 + 0.97 * fall)});
      }
      rows.push_back(std::move(row));
    }
  return rows;
}

// Runs that solve the task sooner at higher rates, up to where they do not.
std::vector<report::ResultRow> cost_rows() {
  std::vector<report::ResultRow> rows = three_mixers();
  for (report::ResultRow& row : rows) {
    const double rate = row.config["train"]["lr"].get<double>();
    row.config["train"]["steps"] = 6000;
    row.tokens_per_step = 8192;
    row.initial_loss = 4.16;
    const double reached = *row.validation_accuracy, half = 150 / std::sqrt(rate) * (1 + 0.1 * (row.run.back() - '3'));
    for (int step = 250; step <= 6000; step += 250)
      row.metrics.push_back(
          {.step = step, .train_loss = 2, .loss = 2, .accuracy = rounded(reached * sigmoid((step - half) / 300))});
  }
  return rows;
}

std::vector<report::ResultRow> signal_rows() {
  std::vector<report::ResultRow> rows;
  for (const char* mixer : {"gru", "rnn", "transformer"})
    for (const int seed : {1, 2, 3}) {
      report::ResultRow row = named_row(mixer, 0, 1e-2, seed, 0.9 + 0.02 * seed);
      row.config["task"] = {{"name", "counting"}, {"length", 60}};
      Json input = Json::array(), target = Json::array(), output = Json::array();
      for (int t = 0; t < 60; ++t) {
        const double now = t % 20 >= 10 ? 1 : 0, next = (t + 1) % 20 >= 10 ? 1 : 0;
        input.push_back(now);
        target.push_back(next);
        output.push_back(rounded(std::string(mixer) == "transformer" ? 0.7 * now + 0.1 * seed * 0.3
                                                                     : next * 0.95 + 0.01 * std::sin(t)));
      }
      row.traces = {{{"name", "test 0"}, {"input", input}, {"target", target}, {"output", output}}};
      rows.push_back(std::move(row));
    }
  return rows;
}

std::vector<FigureSample> figure_samples() {
  const std::string marks = "marks = [1e-4, 4.6e-4, 2.2e-3, 1e-2]\n";
  std::vector<report::ResultRow> lengths =
      sample_sweep({{"attention", 1.6e-4, 5e-2, 0.09}, {"mamba", 6e-4, 4e-3, 1}}, kSevenRates, {42, 123});
  std::vector<report::ResultRow> longer =
      sample_sweep({{"attention", 2e-4, 2e-2, 0.09}, {"mamba", 8e-4, 2e-3, 1}}, kSevenRates, {42, 123});
  for (report::ResultRow& row : longer) {
    row.run += "-long";
    row.config["task"]["length"] = 64;
    lengths.push_back(std::move(row));
  }
  return {
      {"lr_window", "kind = \"lr-window\"\n" + marks, three_mixers(),
       "[[paper]]\nmodel.mixer = \"mamba\"\nsays = \"narrow\"\n"},
      {"lr_window_by_length", "kind = \"lr-window\"\n", lengths},
      {"accuracy_width", "kind = \"accuracy-width\"\npanels = [\"task.length\", \"model.layers\"]\n" + marks,
       width_rows(), "[[paper]]\nmodel.mixer = \"mamba\"\nmodel.width = 128\nmodel.layers = 2\nvalue = 0.99\n"},
      {"width_depth", "kind = \"width-depth\"\n", width_rows()},
      {"dynamics", "kind = \"dynamics\"\n", dynamics_rows()},
      {"extrapolation", "kind = \"extrapolation\"\n", extrapolation_rows(),
       "[[paper]]\nmodel.mixer = \"s4d\"\nmodel.layers = 1\nat = 100\nvalue = 0.2\n"},
      {"matrix",
       "kind = \"matrix\"\nshare = 0.6\nthreshold = 0.5\ncolumns = [\"model.width\"]\nmetrics = [\"phases.two_isi\", "
       "\"phases.double_isi\"]\n",
       matrix_rows(),
       "[[paper]]\nmodel.mixer = \"gru\"\nmetric = \"phases.two_isi\"\npasses = false\n"
       "[[paper]]\nmodel.mixer = \"rnn\"\npasses = true\n"},
      {"matrix_extrapolation",
       "kind = \"matrix\"\ncolumns = [\"model.layers\"]\nmetrics = \"generalisation.accuracy\"\n", extrapolation_rows(),
       "[[paper]]\nmodel.mixer = \"mamba\"\nat = 200\npasses = true\n"},
      {"signal", "kind = \"signal\"\n", signal_rows()},
      {"cost_to_solve", "kind = \"cost-to-solve\"\n", cost_rows()},
      {"by_distance", "kind = \"by-distance\"\n", place_rows()},
      {"by_position", "kind = \"by-position\"\n", place_rows()},
      {"dynamics_all_rates", "kind = \"dynamics\"\nrates = \"all\"\n", dynamics_rows(true)},
  };
}

std::vector<study::PaperValue> paper_values(const std::string& toml) {
  std::vector<study::PaperValue> values;
  const ConfigValue root = parse_toml(toml, "sample.toml");
  if (const ConfigValue* tables = root.find("paper"))
    for (const ConfigValue& table : tables->array()) values.push_back(study::parse_paper_value(table));
  return values;
}

report::FigureReport build_sample(const FigureSample& sample) {
  const auto requests = report::figure_requests({parse_toml(sample.figure, "sample.toml")});
  const std::vector<study::PaperValue> paper = paper_values(sample.paper);
  return requests.front().kind->build(
      sample.rows,
      {.name = sample.name, .title = "A figure of made-up runs", .scale = "laptop", .chance = {}, .paper = paper},
      requests.front().options);
}

}  // namespace mneme::testing
