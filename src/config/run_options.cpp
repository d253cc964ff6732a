#include "config/run_config.h"

namespace mneme::config {

const Schema& model_schema() {
  static const Schema schema = {
      text_field("mixer", "attention", "sequence mixer, or several joined by '+' and cycled over the layers"),
      integer_field("width", 64, 1, 1 << 16, "channels D"),
      integer_field("layers", 2, 1, 1024, "number of blocks, each a sequence mixer and optionally a state mixer"),
      choice_field(
          "block", "zoology", {"zoology", "mamba", "postnorm", "plain", "parallel"},
          "how a layer is wired: pre-norm; Mamba's RMSNorm; LN(x + mixer(x)); bare mixers; attention and MLP side "
          "by side"),
      choice_field("state_mixer", "auto", {"auto", "none", "mlp", "glu", "identity", "rwkv4_channel_mix"},
                   "what follows each sequence mixer; auto: mlp in the blocks zoology and parallel, else none"),
      choice_field("final_norm", "auto", {"auto", "none", "layernorm", "rmsnorm"},
                   "after the last layer; auto: none in the blocks postnorm and plain, else layernorm"),
      choice_field(
          "input", "auto", {"auto", "embedding", "linear", "raw"},
          "a table of tokens; a linear map with bias of one-hot tokens or of the signal; the one-hot tokens or the "
          "signal themselves. auto: embedding for tokens, linear for signals"),
      integer_field("embed_width", 0, 0, 1 << 20, "channels before the first layer, in plain stacks; 0: the width"),
      choice_field("positions", "auto", {"auto", "none", "learned", "sinusoidal", "relative", "rope"},
                   "learned and sinusoidal: added to the embedding; relative: sinusoidal, shifted at random in "
                   "training; rope: mixers see rotated channels; auto: learned if no mixer knows order, else none"),
      integer_field("max_positions", 0, 0, 1 << 24, "size of the learned table; 0: the task's length"),
      integer_field("max_shift", 0, 0, 1 << 24, "largest shift of relative positions; 0: the task's length"),
      flag_field("tied", true, "use the embedding table as output matrix, if they have the same width"),
      flag_field("head_bias", false, "bias of the output layer; signal tasks always have it"),
      real_field("embed_dropout", 0.0, 0.0, 0.999, "dropout after the embedding, in training (Zoology: 0.1)"),
      real_field("resid_dropout", 0.0, 0.0, 0.999, "dropout on each block's outputs, in training"),
      choice_field(
          "init", "auto", {"auto", "zoology", "torch", "mamba", "neox", "own"},
          "initialisation (docs/models.md); auto: mamba for its block, torch for postnorm and plain, else zoology"),
  };
  return schema;
}

const Schema& train_schema() {
  constexpr double kSeedLimit = 9007199254740991.0;  // 2^53 - 1: exact in every JSON reader
  static const Schema schema = {
      real_field("lr", 1e-3, 0.0, 1e6, "peak learning rate"),
      integer_field("steps", 1000, 1, 1e12, "optimiser steps"),
      integer_field("epochs", 0, 0, 1e9, "passes over `examples`, instead of steps; 0: use steps"),
      integer_field("examples", 0, 0, 4294967295.0, "size of the training set; 0: fresh examples at every step"),
      integer_field("batch", 64, 1, 1 << 24, "sequences per step"),
      integer_field("micro_batch", 0, 0, 1 << 24,
                    "sequences at a time (same mathematics, less memory); 0: chosen to fit the cache"),
      choice_field("schedule", "cosine", {"cosine", "linear", "constant"},
                   "learning rate after the warm-up, down to zero"),
      real_field("warmup", 0.1, 0.0, 1.0, "fraction of the steps with linear warm-up"),
      real_field("weight_decay", 0.1, 0.0, 1e3, "decoupled weight decay of AdamW"),
      choice_field("decay_exempt", "none", {"none", "vectors"},
                   "vectors: no decay on biases, norms and other 1-D parameters"),
      real_field("beta1", 0.9, 0.0, 0.999999, "AdamW"),
      real_field("beta2", 0.999, 0.0, 0.999999999, "AdamW"),
      real_field("eps", 1e-8, 1e-30, 1.0, "AdamW"),
      real_field("clip", 0.0, 0.0, 1e12, "largest global norm of the gradient; 0: no clipping"),
      integer_field("eval_every", 0, 0, 1e12, "steps between evaluations; 0: a twentieth of the budget"),
      integer_field("eval_examples", 0, 0, 1e9,
                    "validation examples; 0: 200 to 1,000, at about 3 % of the work of training"),
      integers_field("keep", Json::array(), 0, 1e12,
                     "steps after which to save the weights in the run's directory; 0: the initial weights"),
      integer_field("test_examples", 3000, 1, 1e9, "test examples, evaluated once at the end"),
      choice_field("signal_loss", "bce", {"bce", "mse"},
                   "loss of signal tasks: binary cross entropy, or squared error"),
      real_field("stop_at", 0.0, 0.0, 1.0, "stop once the validation score reaches this; 0: never"),
      choice_field("stop_on", "accuracy", {"accuracy", "exact_match"},
                   "the validation score that stop_at and give_up_below look at"),
      real_field("give_up_after", 0.0, 0.0, 1.0,
                 "fraction of the steps after which a run that is below give_up_below is stopped; 0: never"),
      real_field("give_up_below", 0.0, 0.0, 1.0, "validation score that a run must have reached by then"),
      text_field("device", "cpu",
                 "where the model is trained: cpu (with Mneme's kernels), cuda, cuda:N or mps (docs/devices.md)"),
      integer_field("seed", 42, 0, kSeedLimit, "the run's seed; the four below derive from it"),
      integer_field("data_seed", -1, -1, kSeedLimit, "examples; -1: derived from seed"),
      integer_field("init_seed", -1, -1, kSeedLimit, "initial weights; -1: derived from seed"),
      integer_field("order_seed", -1, -1, kSeedLimit, "order of a finite training set; -1: derived from seed"),
      integer_field("dropout_seed", -1, -1, kSeedLimit, "dropout masks; -1: derived from seed"),
  };
  return schema;
}

}  // namespace mneme::config
