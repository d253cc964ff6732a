#include "models/block.h"

#include "core/error.h"
#include "nn/rms_norm.h"
#include "ops/layer_norm.h"

namespace mneme::models {
namespace {

using torch::Tensor;

constexpr double kEps = 1e-5;
constexpr double kRotaryBase = 10000.0;

torch::nn::LayerNorm layer_norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kEps));
}

// Two LayerNorms; the second only with a state mixer.
class LayerNormBlock : public Block {
 protected:
  explicit LayerNormBlock(BlockParts parts) : Block(std::move(parts), "sequence_mixer", "state_mixer") {
    norm1_ = register_module("norm1", layer_norm(parts_.width));
    if (has_state_mixer()) norm2_ = register_module("norm2", layer_norm(parts_.width));
  }
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
};

class ZoologyBlock : public LayerNormBlock {
 public:
  explicit ZoologyBlock(BlockParts parts) : LayerNormBlock(std::move(parts)) {}

  void run(Stream& stream, Walk& walk) override {
    stream.h = mix(stream.add_branch_and_norm(walk, parts_.dropout, norm1_, settling_positions(walk)), walk);
    stream.settled = settles(walk);
    if (has_state_mixer()) stream.h = feed(stream.add_branch_and_norm(walk, parts_.dropout, norm2_), walk);
  }
};

class ParallelBlock : public LayerNormBlock {
 public:
  explicit ParallelBlock(BlockParts parts) : LayerNormBlock(std::move(parts)) {
    require(has_state_mixer(), "a parallel block has two branches");
  }

  void run(Stream& stream, Walk& walk) override {
    stream.h = mix(stream.add_branch_and_norm(walk, parts_.dropout, norm1_, settling_positions(walk)), walk);
    stream.settled = settles(walk);
    stream.h = stream.h + feed(ops::normed(stream.residual, norm2_), walk);
  }
};

class PostNormBlock : public LayerNormBlock {
 public:
  explicit PostNormBlock(BlockParts parts) : LayerNormBlock(std::move(parts)) {}

  void run(Stream& stream, Walk& walk) override {
    Tensor& x = stream.h;
    x = ops::add_and_norm(settled(x, walk), walk.dropout(mix(x, walk), parts_.dropout), norm1_).normal;
    settle_residual(stream, walk);
    if (has_state_mixer()) x = ops::add_and_norm(x, walk.dropout(feed(x, walk), parts_.dropout), norm2_).normal;
  }
};

// The names of mamba_ssm: mixer, norm, and with a state mixer mlp, norm2.
class MambaBlock : public Block {
 public:
  explicit MambaBlock(BlockParts parts) : Block(std::move(parts), "mixer", "mlp") {
    norm_ = register_module("norm", std::make_shared<nn::RmsNorm>(parts_.width, kEps));
    if (has_state_mixer()) norm2_ = register_module("norm2", std::make_shared<nn::RmsNorm>(parts_.width, kEps));
  }

  void run(Stream& stream, Walk& walk) override {
    stream.h = mix(normalised(*norm_, stream, walk), walk);
    settle_residual(stream, walk);
    if (has_state_mixer()) stream.h = feed(normalised(*norm2_, stream, walk), walk);
  }

 private:
  Tensor normalised(const nn::RmsNorm& norm, Stream& stream, Walk& walk) const {
    const auto type = stream.h.scalar_type();
    stream.add_branch(walk, parts_.dropout);
    // Sums of many layers lose more in 16 bits than the layers themselves.
    if (type == torch::kHalf || type == torch::kBFloat16) stream.residual = stream.residual.to(torch::kFloat32);
    return norm.forward(stream.residual).to(type);
  }

  std::shared_ptr<nn::RmsNorm> norm_, norm2_;
};

class PlainBlock : public Block {
 public:
  explicit PlainBlock(BlockParts parts) : Block(std::move(parts), "sequence_mixer", "state_mixer") {}

  void run(Stream& stream, Walk& walk) override {
    // Between layers, as in torch's recurrent networks: not before the first, not after the last.
    if (parts_.layer > 0) stream.h = walk.dropout(stream.h, parts_.dropout);
    stream.h = mix(stream.h, walk);
    settle_residual(stream, walk);
    if (has_state_mixer()) stream.h = feed(stream.h, walk);
  }
};

}  // namespace

void Stream::add_branch(Walk& walk, double dropout) {
  residual = residual.defined() ? residual + walk.dropout(h, dropout) : h;
}

void Stream::show(Walk& walk, const Site& site) {
  if (!walk.is_watched()) return;
  // The sum becomes the stream; the next layer finds no branch to add.
  h = walk.shown(site, residual.defined() ? residual + h.to(residual.scalar_type()) : h);
  residual = Tensor();
}

Tensor Stream::add_branch_and_norm(Walk& walk, double dropout, const torch::nn::LayerNorm& norm,
                                   const Tensor& positions) {
  const ops::NormedSum next = residual.defined()
                                  ? ops::add_and_norm(residual, walk.dropout(h, dropout), norm, positions)
                                  : ops::add_and_norm(h, {}, norm, positions);
  residual = next.sum;
  return next.normal;
}

bool Block::settles(const Walk& walk) const {
  return walk.in_last_layer() && walk.labelled().defined() && (!parts_.state || parts_.state->is_pointwise());
}

Tensor Block::settled(const Tensor& x, const Walk& walk) const {
  return settles(walk) ? ops::select_positions(x, walk.labelled()) : x;
}

void Block::settle_residual(Stream& stream, const Walk& walk) const {
  if (stream.residual.defined()) stream.residual = settled(stream.residual, walk);
  stream.settled = settles(walk);
}

Block::Block(BlockParts parts, const char* sequence_name, const char* state_name) : parts_(std::move(parts)) {
  register_module(sequence_name, parts_.sequence);
  if (parts_.state) register_module(state_name, parts_.state);
  if (parts_.rotated > 0) rotary_.emplace(parts_.rotated, kRotaryBase);
}

std::vector<mixers::Mixer*> Block::mixers() const {
  std::vector<mixers::Mixer*> list = {parts_.sequence.get()};
  if (parts_.state) list.push_back(parts_.state.get());
  return list;
}

Tensor Block::mix(const Tensor& x, Walk& walk) {
  const Tensor input = walk.shown({parts_.layer, Place::mixer_input}, rotary_ ? turned(x, walk) : x);
  if (settles(walk)) return walk.mix_labelled(*parts_.sequence, input);
  return walk.shown({parts_.layer, Place::mixer_output}, walk.mix(*parts_.sequence, input));
}

Tensor Block::turned(const Tensor& x, const Walk& walk) {
  // Rotary wants [B, heads, L, d].
  const Tensor heads = walk.is_step() ? x.unsqueeze(1).unsqueeze(1) : x.unsqueeze(1);
  return rotary_->apply(heads, walk.position()).view(x.sizes());
}

std::shared_ptr<Block> make_block(std::string_view kind, BlockParts parts) {
  if (kind == "zoology") return std::make_shared<ZoologyBlock>(std::move(parts));
  if (kind == "mamba") return std::make_shared<MambaBlock>(std::move(parts));
  if (kind == "parallel") return std::make_shared<ParallelBlock>(std::move(parts));
  if (kind == "postnorm") return std::make_shared<PostNormBlock>(std::move(parts));
  require(kind == "plain", "a block of the schema");
  return std::make_shared<PlainBlock>(std::move(parts));
}

}  // namespace mneme::models
