/* Tasks for other languages: libmneme_tasks.so, the same bytes as everywhere. Used by python/mneme/tasks.py. */
#pragma once

#include <cstdint>

extern "C" {

struct mneme_task;

// The names of all tasks, one a line. Owned by the library.
const char* mneme_task_names();
// A task with options as a JSON object, {"length": 64}. Null if they do not fit: mneme_task_error() says why.
mneme_task* mneme_task_open(const char* name, const char* options_json);
void mneme_task_close(mneme_task* task);
// The last error of this thread.
const char* mneme_task_error();

std::int64_t mneme_task_length(const mneme_task* task);
std::int64_t mneme_task_vocab(const mneme_task* task);  // 0: a signal task
std::int64_t mneme_task_classes(const mneme_task* task);
double mneme_task_chance(const mneme_task* task);
// The options with every default filled in, as JSON. Owned by the task.
const char* mneme_task_options(const mneme_task* task);

// Examples `first` to `first + count - 1` of a split ("train", "validation", "test") under a data seed, in rows of
// `length`: int32 tokens and labels (-100: none) for a token task, float32 signal and targets for a signal task.
// Returns 0, or 1 after an error.
int mneme_task_write(const mneme_task* task, std::uint64_t data_seed, const char* split, std::uint64_t first,
                     std::uint64_t count, void* inputs, void* answers);
// The data seed of a run: derived from its seed unless it was given (docs/run-directory.md).
std::uint64_t mneme_derived_data_seed(std::uint64_t seed);
}
