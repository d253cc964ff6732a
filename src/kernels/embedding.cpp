#include "kernels/embedding.h"

#include <cstring>

namespace mneme::kernels {

// Plain loops: both move whole rows, so the compiler has little to gain; no SIMD version was tried.

void gather_rows(const float* table, const std::int32_t* index, std::size_t count, std::size_t columns, float* out) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(out + i * columns, table + static_cast<std::size_t>(index[i]) * columns, columns * sizeof(float));
}

void scatter_add_rows(float* table, const std::int32_t* index, std::size_t count, std::size_t columns,
                      const float* rows) {
  for (std::size_t i = 0; i < count; ++i) {
    float* to = table + static_cast<std::size_t>(index[i]) * columns;
    const float* from = rows + i * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] += from[c];
  }
}

}  // namespace mneme::kernels
