// The weights of a run: from its checkpoints and from what train.keep kept, into a model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/safetensors.h"
#include "models/sequence_model.h"
#include "train/checkpoint.h"
#include "train/parameters.h"

namespace mneme::train {

inline constexpr const char* kCheckpointFormat = "mneme-checkpoint-2";
inline constexpr const char* kWeightsFormat = "mneme-weights-1";

// The run's model with weights of its training, for evaluation and inspection.
struct TrainedModel {
  std::shared_ptr<models::SequenceModel> model;
  std::int64_t step = 0;  // after which the weights were like this
};

// With the weights of the newest intact checkpoint: the final ones if the run is done. With `kept`, those that
// train.keep kept after that step. Throws Error(usage) if the run has none such, Error(data) if they are damaged.
TrainedModel trained_model(const config::RunConfig& run, const CheckpointFiles& files,
                           std::optional<std::int64_t> kept = {});

// Puts the weights of a file, a checkpoint or kept ones, into a model of this run. Returns their step.
std::int64_t load_weights(const config::RunConfig& run, models::SequenceModel& model, const Path& file);

// Writes the weights as they are after `step`: param.* under the names of the model.
void keep_weights(const config::RunConfig& run, const FlatParameters& parameters, std::int64_t step,
                  const CheckpointFiles& files);

// A sealed file of a run, open.
class RunTensors {
 public:
  // Throws Error(data) if it is damaged, of another run or in none of these formats.
  RunTensors(const Path& path, const config::RunConfig& run, const std::vector<std::string>& formats);

  const std::string& field(const char* name) const;  // of the metadata
  const std::map<std::string, TensorView>& tensors() const { return file_.tensors(); }
  // Copies a tensor of this shape to `to`, from element `offset` on.
  void copy(const std::string& name, const torch::Tensor& to, std::int64_t offset,
            const std::vector<std::int64_t>& shape) const;

 private:
  Path path_;
  Safetensors file_;
};

std::span<const std::byte> bytes_of(const torch::Tensor& tensor, std::int64_t offset, std::int64_t size);
// "param.NAME" of each parameter; `host` is their values on the CPU, and must outlive the views.
std::map<std::string, TensorView> parameter_views(const FlatParameters& parameters, const torch::Tensor& host);

}  // namespace mneme::train
