#include "worker/golden_case.h"

#include <fmt/format.h>

#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/safetensors.h"
#include "tasks/task.h"

namespace mneme::worker {
namespace {

// The references write null for "not given".
Json without_nulls(const Json& value) {
  if (!value.is_structured()) return value;
  Json result = value.is_object() ? Json::object() : Json::array();
  for (const auto& [key, member] : value.items()) {
    if (member.is_null()) continue;
    if (value.is_object())
      result[key] = without_nulls(member);
    else
      result.push_back(without_nulls(member));
  }
  return result;
}

// Keys that describe the place of a mixer are taken out of the config; all others are its options.
catalog::MixerContext take_context(Json& config, catalog::MixerContext context) {
  const auto take = [&](const char* key, std::int64_t& value) {
    if (!config.contains(key)) return;
    value = config.at(key).get<std::int64_t>();
    config.erase(key);
  };
  take("d_model", context.width);
  take("l_max", context.length);
  take("layer_idx", context.layer);
  take("n_layer", context.layers);
  take("num_hidden_layers", context.layers);
  // Said by other keys already: the cell by the mixer's name, its input by d_model.
  for (const char* key : {"name", "kind", "input_size"}) config.erase(key);
  return context;
}

const catalog::MixerEntry& find_any(const std::string& name) {
  for (const catalog::MixerEntry& entry : catalog::state_mixer_catalog())
    if (entry.name == name) return entry;
  return catalog::find_mixer(name, "golden case");
}

mixers::MixerPointer build(const std::string& name, const Json& options, const catalog::MixerContext& context) {
  const catalog::MixerEntry& entry = find_any(name);
  const ConfigValue table = config_from_json(options, "config of the golden case");
  return mixers::build_mixer(entry, context, resolve(entry.options, &table, name));
}

// {"name": ..., options...}
mixers::MixerPointer build_named(Json description, catalog::MixerContext context) {
  const auto name = description.at("name").get<std::string>();
  context = take_context(description, context);
  return build(name, description, context);
}

// Zoology's Hybrid holds each layer's mixer under one more name.
class Hybrid : public mixers::Mixer {
 public:
  explicit Hybrid(mixers::MixerPointer mixer) : mixer_(register_module("mixer", std::move(mixer))) {}
  torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) override { return mixer_->forward(x, pass); }

 private:
  mixers::MixerPointer mixer_;
};

// The mixers that the layers take in turn: one, or those of a hybrid.
std::vector<Json> mixers_in_turn(const Json& sequence_mixer) {
  if (sequence_mixer.at("name") != "hybrid") return {sequence_mixer};
  const auto configs = sequence_mixer.at("configs").get<std::vector<Json>>();
  if (configs.empty()) throw Error(ErrorKind::data, "golden case", "a hybrid without configs, expected at least one");
  return configs;
}

Options stack_options(const Json& config, const std::string& kind) {
  constexpr const char* kOff = "of training; golden cases have none";
  const Schema schema = {
      integer_field("d_model", Json(), 1, 1 << 16, "width"),
      integer_field("n_layers", Json(), 1, 1024, "blocks"),
      real_field("layer_norm_epsilon", 1e-5, 0.0, 1.0, "of the last norm"),
      real_field("embed_dropout", 0.0, 0.0, 1.0, kOff),
      real_field("resid_dropout", 0.0, 0.0, 1.0, kOff),
      real_field("drop_path", 0.0, 0.0, 1.0, kOff),
      integer_field("vocab_size", 1, 1, 1 << 24, "tokens"),
      integer_field("pad_vocab_size_multiple", 1, 1, 1 << 24, "the table is filled up to a multiple of it"),
      integer_field("max_position_embeddings", 0, 0, 1 << 24, "learned positions"),
  };
  const ConfigValue table = config_from_json(config, "config of the golden case");
  return resolve(schema, &table, kind, {"sequence_mixer", "state_mixer"});
}

std::shared_ptr<models::Backbone> build_backbone(const Json& config, const Options& stack, std::int64_t length) {
  const std::int64_t width = stack.integer("d_model"), layers = stack.integer("n_layers");
  const std::vector<Json> mixers = mixers_in_turn(config.at("sequence_mixer"));
  const bool hybrid = config.at("sequence_mixer").at("name") == "hybrid";
  std::vector<std::shared_ptr<models::Block>> blocks;
  std::map<std::string, std::int64_t> built;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const Json& description = mixers[static_cast<std::size_t>(layer) % mixers.size()];
    const catalog::MixerContext context{width, length, layer, layers,
                                        built[description.at("name").get<std::string>()]++};
    models::BlockParts parts;
    parts.width = width;
    parts.sequence = build_named(description, context);
    if (hybrid) parts.sequence = std::make_shared<Hybrid>(std::move(parts.sequence));
    parts.state = build_named(config.at("state_mixer"), context);
    blocks.push_back(models::make_block("zoology", std::move(parts)));
  }
  models::BackboneOptions options;
  options.final_eps = stack.real("layer_norm_epsilon");
  return std::make_shared<models::Backbone>(width, std::move(blocks), options);
}

template <class Forward>
std::map<std::string, torch::Tensor> differentiate(const GoldenCase& golden, Forward forward) {
  torch::Tensor input = golden.at("input").clone().requires_grad_(true);
  const torch::Tensor output = forward(input);
  output.backward(golden.at("grad_output"));
  return {{"output", output.detach()}, {"grad_input", input.grad()}};
}

GoldenModel language_model_case(const GoldenCase& golden) {
  const Options stack = stack_options(golden.config, "lm");
  const std::int64_t width = stack.integer("d_model"), multiple = stack.integer("pad_vocab_size_multiple");
  const std::int64_t vocab = (stack.integer("vocab_size") + multiple - 1) / multiple * multiple;
  models::EmbeddingShape shape;
  shape.vocab = vocab;
  shape.width = width;
  shape.max_positions = stack.integer("max_position_embeddings");
  if (shape.max_positions > 0) shape.positions = "learned";
  auto backbone = build_backbone(golden.config, stack, golden.at("input_ids").size(1));
  auto model = std::make_shared<models::SequenceModel>(std::make_shared<models::Embeddings>(shape), std::move(backbone),
                                                       models::HeadShape{width, vocab, true, false});
  return {model, [model, vocab](const GoldenCase& file) -> std::map<std::string, torch::Tensor> {
            nn::Pass pass = nn::Pass::evaluation();
            const torch::Tensor logits = model->logits(file.at("input_ids").to(torch::kInt32), pass);
            const torch::Tensor targets = file.at("targets").to(torch::kInt64).flatten();
            const torch::Tensor loss = torch::cross_entropy_loss(logits.view({-1, vocab}), targets, {},
                                                                 torch::Reduction::Mean, tasks::kUnlabelled);
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
  golden.config = without_nulls(parse_json(file.metadata().at("config"), path.string() + " config"));
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
    auto backbone = build_backbone(golden.config, stack_options(golden.config, "backbone"), length);
    return {backbone, [backbone](const GoldenCase& file) {
              return differentiate(file, [&](const torch::Tensor& x) {
                nn::Pass pass = nn::Pass::evaluation();
                models::Walk walk(pass);
                return backbone->forward(x, walk);
              });
            }};
  }
  Json options = golden.config;
  catalog::MixerContext context = take_context(options, {.length = length});
  context.earlier = context.layer;
  const mixers::MixerPointer mixer = build(golden.mixer, options, context);
  return {mixer, [mixer](const GoldenCase& file) {
            return differentiate(file, [&](const torch::Tensor& x) {
              nn::Pass pass = nn::Pass::evaluation();
              if (file.has("v_first")) pass.first_values = file.at("v_first");
              return mixer->forward(x, pass);
            });
          }};
}

}  // namespace mneme::worker
