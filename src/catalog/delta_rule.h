// Sizes of the mixers whose matrix state is corrected by the delta rule: deltanet, gated_deltanet, deltaproduct.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// What the three are made of: one structure, so one module and one set of formulas serves them all.
struct DeltaRuleSizes {
  std::int64_t heads = 1;         // of queries and keys
  std::int64_t value_heads = 1;   // a multiple: each query and key head serves value_heads / heads of them
  std::int64_t householders = 1;  // corrections per token
  std::int64_t key_size = 0;      // channels of a head: dk
  std::int64_t value_size = 0;    // dv
  bool beta = true, double_beta = false;
  bool decay = false;
  bool gate = false;
  bool conv = true;
  std::int64_t taps = 4;
  bool conv_bias = false;
  double eps = 1e-5;

  std::int64_t q_width() const { return heads * key_size; }
  std::int64_t k_width() const { return householders * heads * key_size; }
  std::int64_t v_width() const { return householders * value_heads * value_size; }
  std::int64_t out_width() const { return value_heads * value_size; }
};

DeltaRuleSizes deltanet_sizes(const MixerContext& context, const Options& options);
DeltaRuleSizes gated_deltanet_sizes(const MixerContext& context, const Options& options);
DeltaRuleSizes deltaproduct_sizes(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
