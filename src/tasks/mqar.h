// mqar: multi-query associative recall (Arora et al. 2023, Zoology).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry mqar_entry();

// For layouts that begin with `pairs` pairs (key value): the last value given to a key answers it.
std::vector<std::int32_t> solve_pairs(std::span<const std::int32_t> tokens, std::size_t pairs);
std::vector<std::int32_t> pair_sources(const ExampleView& example, std::size_t pairs);
std::vector<Role> pair_roles(const ExampleView& example, std::size_t pairs);

}  // namespace mneme::tasks
