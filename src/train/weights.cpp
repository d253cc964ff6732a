#include "train/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace mneme::train {

std::span<const std::byte> bytes_of(const torch::Tensor& tensor, std::int64_t offset, std::int64_t size) {
  return std::as_bytes(std::span(tensor.data_ptr<float>() + offset, static_cast<std::size_t>(size)));
}

std::map<std::string, TensorView> parameter_views(const FlatParameters& parameters, const torch::Tensor& host) {
  std::map<std::string, TensorView> tensors;
  for (const auto& segment : parameters.segments())
    tensors["param." + segment.name] = {"F32", segment.shape, bytes_of(host, segment.offset, segment.size)};
  return tensors;
}

RunTensors::RunTensors(const Path& path, const config::RunConfig& run, const std::vector<std::string>& formats)
    : path_(path), file_(Safetensors::load_sealed(path)) {
  const std::string &format = field("format"), &of = field("run");
  if (std::find(formats.begin(), formats.end(), format) == formats.end() || of != run.id)
    throw Error(ErrorKind::data, path.string(),
                fmt::format("a checkpoint of run {} in format {}, expected run {}", of, format, run.id));
}

const std::string& RunTensors::field(const char* name) const {
  const auto found = file_.metadata().find(name);
  if (found == file_.metadata().end())
    throw Error(ErrorKind::data, path_.string(),
                fmt::format("no '{}' in the metadata, expected a checkpoint of Mneme", name));
  return found->second;
}

void RunTensors::copy(const std::string& name, const torch::Tensor& to, std::int64_t offset,
                      const std::vector<std::int64_t>& shape) const {
  const auto found = file_.tensors().find(name);
  if (found == file_.tensors().end())
    throw Error(ErrorKind::data, path_.string(), fmt::format("no tensor '{}' in the checkpoint", name));
  if (found->second.dtype != "F32" || found->second.shape != shape)
    throw Error(ErrorKind::data, path_.string(),
                fmt::format("tensor '{}' differs from the model in type or shape", name));
  const std::span<const std::byte> bytes = found->second.bytes;
  const auto size = static_cast<std::int64_t>(bytes.size() / sizeof(float));
  const torch::Tensor place = to.view(-1).narrow(0, offset, size), host = to.is_cpu() ? place : torch::empty({size});
  std::memcpy(host.data_ptr<float>(), bytes.data(), bytes.size());
  if (!to.is_cpu()) place.copy_(host);
}

std::int64_t load_weights(const config::RunConfig& run, models::SequenceModel& model, const Path& file) {
  const RunTensors tensors(file, run, {kCheckpointFormat, kWeightsFormat});
  const torch::NoGradGuard guard;
  for (const auto& item : model.named_parameters())
    tensors.copy("param." + item.key(), item.value(), 0, item.value().sizes().vec());
  if (tensors.field("format") == kWeightsFormat) return std::stoll(tensors.field("step"));
  return parse_json(tensors.field("position"), file.string()).at("step").get<std::int64_t>();
}

void keep_weights(const config::RunConfig& run, const FlatParameters& parameters, std::int64_t step,
                  const CheckpointFiles& files) {
  if (!std::filesystem::exists(files.kept)) {
    file_system().create_directories(files.kept);
    file_system().sync_directory(files.kept.parent_path());
  }
  const torch::Tensor host = parameters.values.cpu();
  save_sealed_safetensors(files.kept_at(step), parameter_views(parameters, host),
                          {{"format", kWeightsFormat}, {"run", run.id}, {"step", std::to_string(step)}},
                          {.gate = files.gate});
}

TrainedModel trained_model(const config::RunConfig& run, const CheckpointFiles& files,
                           std::optional<std::int64_t> kept) {
  std::vector<Path> candidates{files.current, files.previous};
  if (kept) candidates = {files.kept_at(*kept)};
  std::erase_if(candidates, [](const Path& file) { return !std::filesystem::exists(file); });
  if (candidates.empty()) {
    std::vector<std::string> steps;
    for (const std::int64_t step : run.train.integers("keep")) steps.push_back(std::to_string(step));
    throw Error(
        ErrorKind::usage, fmt::format("run {}", run.id),
        kept ? fmt::format("no weights of step {} are kept, expected a step of train.keep = [{}] that was reached",
                           *kept, join(steps, ", "))
             : "it has no checkpoint, expected a run that was trained");
  }
  TrainedModel result{models::build_model(run), 0};
  result.model->eval();
  try {
    result.step = load_weights(run, *result.model, candidates.front());
  } catch (const Error& error) {
    // The newest is damaged: the one before it, if there is one.
    if (error.kind() != ErrorKind::data || candidates.size() == 1) throw;
    result.step = load_weights(run, *result.model, candidates.back());
  }
  return result;
}

}  // namespace mneme::train
