#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "cli/command.h"
#include "cli/run_selection.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "report/pages/records.h"
#include "report/pages/tensorboard.h"

namespace mneme::cli {
namespace {

struct ExportOptions {
  RunSelection runs;
  std::string format = "csv";
  std::string output;
  bool metrics = false;
};

// A selection without runs has the header all the same.
const std::vector<std::string> kRunColumns{"run",          "state", "reason", "task",  "mixer",   "width",
                                           "layers",       "lr",    "seed",   "steps", "seconds", "validation_accuracy",
                                           "test_accuracy"};
const std::vector<std::string> kMetricColumns{"run", "step", "split", "name", "from", "to", "value"};

// Paths into the configuration at which these runs differ, and that have no column of their own.
std::vector<std::string> varying_paths(const std::vector<Json>& configs) {
  static const std::set<std::string> known{"/task/name",    "/model/mixer", "/model/width",
                                           "/model/layers", "/train/lr",    "/train/seed"};
  std::map<std::string, std::set<std::string>> values;
  for (const Json& config : configs)
    for (const auto& [path, value] : config.items()) values[path].insert(value.dump());
  std::map<std::string, std::size_t> present;
  for (const Json& config : configs)
    for (const auto& [path, value] : config.items()) ++present[path];
  std::vector<std::string> paths;
  for (const auto& [path, found] : values)
    if (!known.contains(path) && (found.size() > 1 || present[path] < configs.size())) paths.push_back(path);
  return paths;
}

std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path.substr(1);
}

// Accuracies are fractions, times seconds; every option in which the runs differ has a column.
report::Records runs_records(const std::vector<store::RunRecord>& records) {
  std::vector<Json> configs;
  for (const store::RunRecord& r : records) configs.push_back(parse_json(r.config, r.id).flatten());
  const std::vector<std::string> varying = varying_paths(configs);
  const auto number = [](const std::optional<double>& value) {
    return value ? report::Record(*value) : report::Record();
  };
  report::Records rows;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const store::RunRecord& r = records[i];
    report::Record& row = rows.emplace_back();
    row = {{"run", r.id},
           {"state", store::run_state_name(r.state)},
           {"reason", r.reason},
           {"task", r.task},
           {"mixer", r.mixer},
           {"width", r.width},
           {"layers", r.layers},
           {"lr", r.lr},
           {"seed", r.seed},
           {"steps", r.steps},
           {"seconds", r.seconds},
           {"validation_accuracy", number(r.validation_accuracy)},
           {"test_accuracy", number(r.test_accuracy)}};
    if (!r.notes.tags.empty()) row["tags"] = join(r.notes.tags, " ");
    if (!r.notes.note.empty()) row["note"] = r.notes.note;
    for (const std::string& path : varying) row[dotted(path)] = configs[i].value(path, Json());
  }
  return rows;
}

report::Record metric_record(const std::string& run, const Json& step, const std::string& split,
                             const std::string& name, const Json& value) {
  return {{"run", run},      {"step", step},  {"split", split}, {"name", name},
          {"from", nullptr}, {"to", nullptr}, {"value", value}};
}

// The test split's numbers; those by position or distance have a row for each stretch.
void add_test_rows(report::Records& rows, const store::RunRecord& record) {
  if (record.summary.empty()) return;
  const Json values = parse_json(record.summary, record.id).value("values", Json::object());
  const Json test = values.value("test", Json::object());
  for (const auto& [name, value] : test.items()) {
    if (value.is_number()) rows.push_back(metric_record(record.id, record.steps, "test", name, value));
    if (!value.is_array()) continue;
    for (const Json& bin : value) {
      report::Record& row = rows.emplace_back(metric_record(record.id, record.steps, "test", name, bin.at("accuracy")));
      row["from"] = bin.at("from");
      row["to"] = bin.at("to");
    }
  }
}

// One row per number: every reader of tables can turn it into columns. `from` and `to` are positions or distances.
// Times have names of their own, so that what is the same on every machine can be told from what is not.
report::Records metrics_records(const std::vector<store::RunRecord>& records, const store::Lab& lab) {
  report::Records rows;
  for (const store::RunRecord& record : records) {
    for (const Json& metric : lab.run(record.id).metrics())
      for (const char* part : {"values", "times"}) {
        const Json numbers = metric.value(part, Json::object());
        for (const auto& [name, value] : numbers.items())
          rows.push_back(metric_record(record.id, metric.at("step"), metric.value("split", ""), name, value));
      }
    add_test_rows(rows, record);
  }
  return rows;
}

std::string json_lines(const std::vector<store::RunRecord>& records, const store::Lab& lab) {
  std::string text;
  for (const store::RunRecord& record : records)
    text += Json{{"id", record.id},
                 {"state", store::run_state_name(record.state)},
                 {"tags", record.notes.tags},
                 {"note", record.notes.note},
                 {"config", parse_json(record.config, record.id)},
                 {"summary", record.summary.empty() ? Json() : parse_json(record.summary, record.id)},
                 {"metrics", lab.run(record.id).metrics()}}
                .dump() +
            "\n";
  return text;
}

// Where TensorBoard shows a number: what is measured on the validation split, and what training says of itself.
std::string event_tag(const std::string& name) {
  if (name == "train_loss" || name == "train_accuracy") return "train/" + name.substr(6);
  for (const char* of_training :
       {"learning_rate", "gradient_norm", "gradient_norm_max", "parameter_norm", "step_seconds"})
    if (name == of_training) return "train/" + name;
  return "validation/" + name;
}

Path write_events(const store::RunRecord& record, const store::Lab& lab, const Path& output) {
  // The curve's own seconds, counted from when the files last changed: events need some date.
  const double end = static_cast<double>(record.changed) / 1e9;
  const double start = end - record.seconds;
  std::vector<report::ScalarEvent> events;
  for (const Json& metric : lab.run(record.id).metrics()) {
    Json values = metric.at("values");
    if (metric.at("times").contains("step_seconds")) values["step_seconds"] = metric["times"]["step_seconds"];
    for (const auto& [name, value] : values.items())
      if (value.is_number())
        events.push_back({start + metric.at("times").value("seconds", 0.0), metric.at("step").get<std::int64_t>(),
                          event_tag(name), value.get<float>()});
  }
  const Path directory = output / record.id;
  file_system().create_directories(directory);
  const Path file = directory / fmt::format("events.out.tfevents.{}.mneme", static_cast<std::int64_t>(end));
  write_file_atomically(file, report::tensorboard_file(start, events));
  return file;
}

Path write_weights(const store::RunRecord& record, const store::Lab& lab, const Path& output) {
  const store::RunDirectory directory = lab.run(record.id);
  if (!directory.has_checkpoint())
    throw Error(ErrorKind::data, directory.path().string(), "has no checkpoint: it was never trained");
  const Safetensors checkpoint = Safetensors::load_sealed(
      std::filesystem::exists(directory.checkpoint()) ? directory.checkpoint() : directory.previous_checkpoint());
  std::map<std::string, TensorView> weights;
  constexpr std::string_view kPrefix = "param.";
  for (const auto& [name, tensor] : checkpoint.tensors())
    if (name.starts_with(kPrefix)) weights[name.substr(kPrefix.size())] = tensor;
  file_system().create_directories(output);
  const Path file = output / (record.id + ".safetensors");
  save_safetensors(file, weights, {{"run", record.id}, {"config", record.config}});
  return file;
}

int export_runs(const ExportOptions& options, const Context& context) {
  const std::vector<std::string> formats{"csv", "jsonl", "tensorboard", "safetensors"};
  if (std::find(formats.begin(), formats.end(), options.format) == formats.end())
    throw Error(ErrorKind::usage, "--format",
                fmt::format("got '{}'{}", options.format, suggestion(options.format, formats)));
  const bool files = options.format == "tensorboard" || options.format == "safetensors";
  if (files && options.output.empty())
    throw Error(ErrorKind::usage, "--output",
                fmt::format("expected a directory for {} files, got none", options.format));
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  std::vector<store::RunRecord> records;
  if (options.runs.empty() && options.runs.scale.empty()) {
    records = index.query();
  } else {
    for (const std::string& id : options.runs.ids(index)) records.push_back(find_record(index, id));
  }
  Json written = Json::array();
  if (files) {
    for (const store::RunRecord& record : records)
      written.push_back((options.format == "tensorboard" ? write_events(record, lab, options.output)
                                                         : write_weights(record, lab, options.output))
                            .string());
  } else {
    const std::string text = options.format == "jsonl" ? json_lines(records, lab)
                             : options.metrics         ? report::to_csv(metrics_records(records, lab), kMetricColumns)
                                                       : report::to_csv(runs_records(records), kRunColumns);
    if (options.output.empty()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return 0;
    }
    const Path file = options.output;
    if (std::filesystem::is_directory(file))
      throw Error(ErrorKind::usage, "--output", fmt::format("'{}' is a directory, expected a file", options.output));
    if (file.has_parent_path()) file_system().create_directories(file.parent_path());
    write_file_atomically(file, text);
    written.push_back(options.output);
  }
  if (context.json)
    print_json({{"runs", records.size()}, {"files", written}});
  else
    fmt::print("{} written to {}\n", counted(records.size(), "run"), options.output);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExportOptions>();
  options->runs.add(app, "; default: all runs");
  app.add_option("--format", options->format,
                 "csv: one row per run; jsonl: one line per run with config, summary and metrics; tensorboard: event "
                 "files; safetensors: weights")
      ->capture_default_str();
  app.add_option("--output", options->output,
                 "output file, or directory for tensorboard and safetensors (default: standard output)")
      ->type_name("PATH");
  app.add_flag("--metrics", options->metrics, "csv: one row per evaluated metric instead");
  app.callback(
      [options, &context] { context.action = [options, &context] { return export_runs(*options, context); }; });
  add_examples(app,
               "  mneme export --format csv > runs.csv\n  mneme export mixer=mamba --format tensorboard --output tb\n"
               "  mneme export 3f2a --format safetensors --output weights");
}

}  // namespace mneme::cli
