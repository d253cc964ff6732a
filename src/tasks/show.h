// Tasks and examples as text for a person, and as JSON for a program.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/json.h"
#include "tasks/task.h"

namespace mneme::tasks {

struct ShowStyle {
  bool colour = false;      // ANSI colours by role; without them a line of role letters
  std::size_t width = 100;  // columns
};

// An example in blocks of at most `width` columns: position and roles, input, and the labels below it.
std::string show_example(const Task& task, const ExampleView& example, const ShowStyle& style);

// How these roles are shown: one line.
std::string show_legend(const std::set<Role>& roles, const ShowStyle& style);

// Examples 0..count-1 of a split, with the legend and a head line each.
std::string show_samples(const TaskEntry& entry, const Options& options, std::uint64_t data_seed, Split split,
                         std::int64_t count, const ShowStyle& style);

// {"task": NAME, "options": {...}, "examples": [{"input": [...], "labels": [...]}]}; -100: no label.
Json samples_json(const TaskEntry& entry, const Options& options, std::uint64_t data_seed, Split split,
                  std::int64_t count);

// Everything there is to know about a task: layout, options, chance at the defaults, axes, citation.
std::string describe_task(const TaskEntry& entry);
Json task_json(const TaskEntry& entry);

// One line per task: name and summary.
std::string list_tasks();

}  // namespace mneme::tasks
