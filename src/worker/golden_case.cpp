#include "worker/golden_case.h"

#include <fmt/format.h>

#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/safetensors.h"
#include "tasks/task.h"

namespace mneme {
namespace {

// Keys that say where a mixer stands; all others are its options.
MixerContext take_context(Json& config, std::int64_t length) {
  const auto take = [&](const char* key, std::int64_t fallback) {
    if (!config.contains(key)) return fallback;
    // null stands for "not given" (an unlimited l_max, say).
    const auto value = config.at(key).is_null() ? fallback : config.at(key).get<std::int64_t>();
    config.erase(key);
    return value;
  };
  MixerContext context;
  context.width = take("d_model", 0);
  context.length = take("l_max", length);
  context.layer = take("layer_idx", 0);
  context.layers = take("n_layer", take("num_hidden_layers", 1));
  // Said by other keys already: the cell by the mixer's name, its input by d_model.
  for (const char* key : {"kind", "input_size"}) config.erase(key);
  return context;
}

const MixerEntry& find_any(const std::string& name) {
  for (const MixerEntry& entry : state_mixer_catalog())
    if (entry.name == name) return entry;
  return find_mixer(name, "golden case");
}

MixerPointer build(const std::string& name, Json options, const MixerContext& context) {
  // The references write null for "not given".
  for (auto item = options.begin(); item != options.end();) item = item->is_null() ? options.erase(item) : std::next(item);
  const MixerEntry& entry = find_any(name);
  const ConfigValue table = config_from_json(options, "config of the golden case");
  return build_mixer(entry, context, resolve(entry.options, &table, name));
}

// {"name": ..., options...}
MixerPointer build_named(Json description, const MixerContext& context) {
  const auto name = description.at("name").get<std::string>();
  description.erase("name");
  return build(name, description, context);
}

std::shared_ptr<Backbone> build_backbone(const Json& config, std::int64_t length) {
  const auto width = config.at("d_model").get<std::int64_t>();
  const auto layers = config.at("n_layers").get<std::int64_t>();
  std::vector<std::shared_ptr<Block>> blocks;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const MixerContext context{width, length, layer, layers};
    BlockParts parts;
    parts.width = width;
    parts.sequence = build_named(config.at("sequence_mixer"), context);
    parts.state = build_named(config.at("state_mixer"), context);
    blocks.push_back(make_block("zoology", std::move(parts)));
  }
  return std::make_shared<Backbone>(width, std::move(blocks));
}

template <class Forward>
std::map<std::string, torch::Tensor> differentiate(const GoldenCase& golden, Forward forward) {
  torch::Tensor input = golden.at("input").clone().requires_grad_(true);
  const torch::Tensor output = forward(input);
  output.backward(golden.at("grad_output"));
  return {{"output", output.detach()}, {"grad_input", input.grad()}};
}

GoldenModel language_model_case(const GoldenCase& golden) {
  const auto width = golden.config.at("d_model").get<std::int64_t>();
  const auto vocab = golden.config.at("vocab_size").get<std::int64_t>();
  const auto positions = golden.config.value("max_position_embeddings", std::int64_t{0});
  EmbeddingShape shape;
  shape.vocab = vocab;
  shape.width = width;
  if (positions > 0) shape.positions = "learned";
  shape.max_positions = positions;
  auto model = std::make_shared<SequenceModel>(std::make_shared<Embeddings>(shape),
                                               build_backbone(golden.config, golden.at("input_ids").size(1)),
                                               HeadShape{width, vocab, true, false});
  return {model, [model, vocab](const GoldenCase& file) -> std::map<std::string, torch::Tensor> {
            Pass pass = Pass::evaluation();
            const torch::Tensor logits = model->logits(file.at("input_ids").to(torch::kInt32), pass);
            const torch::Tensor targets = file.at("targets").to(torch::kInt64).flatten();
            const torch::Tensor loss = torch::cross_entropy_loss(logits.view({-1, vocab}), targets, {},
                                                                  torch::Reduction::Mean, kNotAsked);
            loss.backward();
            return {{"output", logits.detach()}, {"loss", loss.detach().reshape({1})}};
          }};
}

}  // namespace

GoldenCase GoldenCase::load(const Path& path) {
  const Safetensors file = Safetensors::load(path);
  GoldenCase golden;
  golden.path_ = path.string();
  for (const char* key : {"mixer", "config"})
    if (!file.metadata().contains(key))
      throw Error(ErrorKind::data, path.string(), fmt::format("no '{}' in the metadata, expected a golden case", key));
  golden.mixer = file.metadata().at("mixer");
  golden.config = parse_json(file.metadata().at("config"), path.string() + " config");
  for (const auto& [name, view] : file.tensors()) {
    if (name.starts_with("buffer.")) continue;
    if (view.dtype != "F32")
      throw Error(ErrorKind::data, path.string(), fmt::format("tensor '{}' is {}, expected F32", name, view.dtype));
    torch::Tensor tensor = torch::empty(view.shape);
    std::memcpy(tensor.data_ptr<float>(), view.bytes.data(), view.bytes.size());
    golden.tensors[name] = tensor;
  }
  return golden;
}

const torch::Tensor& GoldenCase::at(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error(ErrorKind::data, path_, fmt::format("no tensor '{}', expected a golden case", name));
  return found->second;
}

GoldenModel build_golden_model(const GoldenCase& golden) {
  if (golden.mixer == "lm") return language_model_case(golden);
  const std::int64_t length = golden.at("input").size(1);
  if (golden.mixer == "backbone") {
    auto backbone = build_backbone(golden.config, length);
    return {backbone, [backbone](const GoldenCase& file) {
              return differentiate(file, [&](const torch::Tensor& x) {
                Pass pass = Pass::evaluation();
                Walk walk(pass);
                return backbone->forward(x, walk);
              });
            }};
  }
  Json options = golden.config;
  const MixerContext context = take_context(options, length);
  const MixerPointer mixer = build(golden.mixer, options, context);
  return {mixer, [mixer](const GoldenCase& file) {
            return differentiate(file, [&](const torch::Tensor& x) {
              Pass pass = Pass::evaluation();
              return mixer->forward(x, pass);
            });
          }};
}

}  // namespace mneme
