#include "worker/training_case.h"

#include <fmt/format.h>

#include <map>

#include "core/error.h"
#include "core/safetensors.h"

namespace mneme::worker {
namespace {

template <class T>
TensorView view(const char* type, std::vector<std::int64_t> shape, const T* data) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return {type, std::move(shape), std::as_bytes(std::span(data, count))};
}

train::Batch first_batch(const config::RunConfig& run) {
  const auto seed = [&](const char* name) { return static_cast<std::uint64_t>(run.train.integer(name)); };
  const std::unique_ptr<tasks::Task> task = run.task_entry->build(run.task);
  train::ExampleOrder order(run.train.integer("examples"), run.train.integer("batch"), seed("order_seed"));
  return train::make_batch(tasks::ExampleSource(*task, seed("data_seed"), tasks::Split::train), run.shape,
                           order.indices(0));
}

}  // namespace

void save_training_case(const Path& path, train::Trainer& trainer, const config::RunConfig& run) {
  if (run.shape.is_signal()) throw Error(ErrorKind::usage, "--save-case", "got a signal task, expected one of tokens");
  require(trainer.position() == 0, "a trainer at its first step");
  const train::Batch batch = first_batch(run);
  const torch::Tensor weights = trainer.parameters().values.clone();
  const double loss = trainer.step().loss;
  const double norm = trainer.parameters().gradients.to(torch::kFloat64).norm().item<double>();

  std::map<std::string, TensorView> views;
  for (const auto& segment : trainer.parameters().segments())
    views["param." + segment.name] = view("F32", segment.shape, weights.data_ptr<float>() + segment.offset);
  const auto labels = static_cast<std::int64_t>(batch.labelled.size());
  views["tokens"] = view("I32", batch.tokens.sizes().vec(), batch.tokens.data_ptr<std::int32_t>());
  views["labelled"] = view("I64", {labels}, batch.labelled.data());
  views["answers"] = view("I32", {labels}, batch.answers.data());
  save_safetensors(
      path, views,
      {{"config", run.json().dump()}, {"loss", fmt::format("{}", loss)}, {"gradient_norm", fmt::format("{}", norm)}});
}

}  // namespace mneme::worker
