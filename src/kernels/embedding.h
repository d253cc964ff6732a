// Rows of a table by number, and the gradient of that.
//
// gather_rows:      out[i, :] = table[index[i], :]
// scatter_add_rows: table[index[i], :] += rows[i, :], i in order, so repeated numbers add up in a fixed
//                   order. float32, contiguous, D columns. Indices must be valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

void gather_rows(const float* table, const std::int32_t* index, std::size_t count, std::size_t columns, float* out);
void scatter_add_rows(float* table, const std::int32_t* index, std::size_t count, std::size_t columns,
                      const float* rows);

}  // namespace mneme::kernels
