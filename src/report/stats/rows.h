// What figures and tables are made of: one row per run, taken from the store by the caller.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"

namespace mneme::report {

// One evaluation during training; NaN where the run does not say.
struct MetricPoint {
  std::int64_t step = 0;
  double train_loss = 0;  // mean over the steps since the evaluation before
  double loss = 0;        // on validation, as the accuracy
  double accuracy = 0;
  double exact_match = std::numeric_limits<double>::quiet_NaN();
};

struct ResultRow {
  std::string run;               // the id
  Json config = Json::object();  // resolved: task.*, model.*, train.*
  std::string outcome;           // "done", "diverged", "failed"; anything else is a run that has not ended
  std::string reason;            // why it ended so; may be empty
  // Fractions in [0, 1]; of a run that diverged or failed, its last finite evaluation.
  std::optional<double> validation_accuracy;
  std::optional<double> test_accuracy;
  std::int64_t steps = 0;
  double seconds = 0;
  std::int64_t tokens_per_step = 0;  // of training; 0 if nobody said
  double initial_loss =
      std::numeric_limits<double>::quiet_NaN();  // of a guess that takes all answers for equally likely
  // What only some figures need; the caller leaves out what is not asked for (report/figures/figure_kind.h).
  Json values = Json::object();      // of the summary: test, parameters, generalisation, phases, ...
  std::vector<MetricPoint> metrics;  // by step
  Json traces = Json::array();       // signals: {"name", "input", "target", "output"}
};

// Fills in what follows from the configuration: tokens per step and the initial loss.
void add_run_facts(ResultRow& row, const config::RunConfig& run);

// True if the run is a result. Divergence and failure are results; a run under way, planned or
// cancelled says nothing about its configuration and enters no statistic.
bool is_result(const ResultRow& row);

// The accuracies that statistics use, always finite: a missing or non-finite validation accuracy is 0;
// a missing or non-finite test accuracy is the validation accuracy (a run that diverged is never
// tested, but was validated before).
double counted_validation_accuracy(const ResultRow& row);
double counted_test_accuracy(const ResultRow& row);

// The score by which a run is judged: what its training stops on (train.stop_on), accuracy or the share of sequences
// that are right at every labelled position. Windows, best rates and costs use the score; it is finite like the
// accuracies.
bool judged_by_sequence(const ResultRow& row);
double validation_score(const ResultRow& row);
double test_score(const ResultRow& row);
double score_of(const ResultRow& row, const MetricPoint& point);  // NaN where the run does not say
// "accuracy", or "whole sequences right" if all rows are judged by those.
std::string score_name(std::span<const ResultRow> rows);

// Throw Error(data) naming the run if the config does not say.
double learning_rate(const ResultRow& row);    // train.lr, positive
std::string mixer_name(const ResultRow& row);  // model.mixer, or its name if it is a table
std::string seed_text(const ResultRow& row);   // train.seed, "" if there is none

// The value at a path of the config ("task.length"), or nullptr.
const Json* config_value(const ResultRow& row, std::string_view path);
// A field as a panel or a column is called: "length 64", "1 layer", "copying", "conv k".
std::string field_text(std::string_view path, const Json& value);

// A label for each row, equal for runs that differ in nothing but learning rate, seeds and the fields `apart_from`:
// the mixer, followed by whatever else varies among the runs of that mixer ("mamba, width 128"). What follows from
// these or from `apart_from` (a batch that follows from the length) is not named.
std::vector<std::string> series_labels(std::span<const ResultRow> rows,
                                       const std::vector<std::string>& apart_from = {});

// What all rows have in common, for a subtitle: "MQAR, length 32, 4 pairs, vocabulary 64; 2 layers, width 64".
std::string setup_line(std::span<const ResultRow> rows);

}  // namespace mneme::report
