#include <fmt/format.h>

#include <limits>

#include "core/error.h"
#include "core/safetensors.h"
#include "train/trainer.h"
#include "train/weights.h"

namespace mneme::train {

CheckpointFiles::CheckpointFiles(Path newest) : current(std::move(newest)), previous(current), kept(current) {
  previous.replace_filename(current.stem().string() + ".previous" + current.extension().string());
  kept.replace_filename("weights");
}

Json Trainer::Position::json() const {
  return {{"step", step},
          {"loss_sum", loss_sum},
          {"loss_steps", loss_steps},
          {"accuracy_sum", finite_or_null(accuracy_sum)},
          {"gradient_sum", finite_or_null(gradient_sum)},
          {"gradient_most", finite_or_null(gradient_most)},
          {"noted_steps", noted_steps},
          {"validation", validation},
          {"metrics", metrics},
          {"best_step", best_step},
          {"best_accuracy", best_accuracy}};
}

Trainer::Position Trainer::Position::from_json(const Json& json) {
  Position position;
  position.step = json.at("step").get<std::int64_t>();
  position.loss_sum = json.at("loss_sum").get<double>();
  position.loss_steps = json.at("loss_steps").get<std::int64_t>();
  // A number that was not finite stays so.
  const auto sum = [&](const char* name) {
    const Json value = json.value(name, Json(0.0));
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  };
  position.accuracy_sum = sum("accuracy_sum");
  position.gradient_sum = sum("gradient_sum");
  position.gradient_most = sum("gradient_most");
  position.noted_steps = json.value("noted_steps", std::int64_t{0});
  position.validation = json.at("validation");
  position.metrics = json.at("metrics");
  position.best_step = json.at("best_step").get<std::int64_t>();
  position.best_accuracy = json.at("best_accuracy").get<double>();
  return position;
}

void Trainer::save(const CheckpointFiles& files) const {
  // On the host; there already, if the model is on the CPU.
  const torch::Tensor values = parameters_->values.cpu(), first = optimiser_->first_moment.cpu(),
                      second = optimiser_->second_moment.cpu();
  std::map<std::string, TensorView> tensors = parameter_views(*parameters_, values);
  const std::int64_t n = parameters_->size();
  tensors["adam.m"] = {"F32", {n}, bytes_of(first, 0, n)};
  tensors["adam.v"] = {"F32", {n}, bytes_of(second, 0, n)};
  // Who resumes has the same last steps as who was never interrupted.
  std::vector<std::vector<std::byte>> memory;
  for (auto& [name, view] : trace_.tensors(memory)) tensors["trace." + name] = std::move(view);
  save_sealed_safetensors(files.current, tensors,
                          {{"format", kCheckpointFormat}, {"run", run_.id}, {"position", canonical(position_.json())}},
                          {.gate = files.gate, .previous = files.previous});
}

std::int64_t Trainer::checkpoint_bytes() const {
  return 3 * parameters_->size() * static_cast<std::int64_t>(sizeof(float));
}

Recovery Trainer::recover(const CheckpointFiles& files) {
  Recovery recovery;
  for (const Path& file : {files.current, files.previous}) {
    if (!std::filesystem::exists(file)) continue;
    try {
      restore(file);
      recovery.resumed = true;
      recovery.notes.push_back(fmt::format("resumed at step {} from {}", position_.step, file.filename().string()));
      return recovery;
    } catch (const Error& error) {
      recovery.notes.push_back(fmt::format("cannot use this checkpoint: {}", error.what()));
    }
  }
  if (!recovery.notes.empty()) recovery.notes.push_back("no usable checkpoint: starting over");
  return recovery;
}

void Trainer::restore(const Path& checkpoint) {
  const RunTensors file(checkpoint, run_, {kCheckpointFormat});
  // Read before anything is changed: a checkpoint is taken whole or not at all.
  Position position = Position::from_json(parse_json(file.field("position"), checkpoint.string()));
  for (const auto& segment : parameters_->segments())
    file.copy("param." + segment.name, parameters_->values, segment.offset, segment.shape);
  const std::vector<std::int64_t> flat = {parameters_->size()};
  file.copy("adam.m", optimiser_->first_moment, 0, flat);
  file.copy("adam.v", optimiser_->second_moment, 0, flat);
  // Checkpoints of older versions have none.
  TrainingTrace trace{trace_.groups, {}};
  if (file.tensors().contains("trace.step"))
    trace = TrainingTrace::from_tensors(file.tensors(), "trace.", trace_.groups, checkpoint.string());
  trace_ = std::move(trace);
  position_ = std::move(position);
}

}  // namespace mneme::train
