// Options shared by the mixers with heads of keys and values: their widths and checks.
#pragma once

#include <cmath>

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

struct HeadWidths {
  std::int64_t heads, key, value;  // key and value: of all heads together
  std::int64_t head_key() const { return key / heads; }
  std::int64_t head_value() const { return value / heads; }
};

inline HeadWidths head_widths(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width);
  return {options.integer("num_heads"), static_cast<std::int64_t>(D * options.real("expand_k")),
          static_cast<std::int64_t>(D * options.real("expand_v"))};
}

inline void validate_head_widths(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  for (const auto& [name, width] : {std::pair{"expand_k", widths.key}, std::pair{"expand_v", widths.value}})
    if (width < widths.heads || width % widths.heads != 0)
      options.reject(name, "a multiple of the width " + std::to_string(context.width) + " that splits into " +
                               std::to_string(widths.heads) + " heads");
}

}  // namespace mneme::catalog
