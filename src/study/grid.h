// A configuration in which some fields have several values, and the runs that it stands for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/run_config.h"
#include "core/config.h"
#include "study/axis.h"

namespace mneme {

struct Axis {
  std::string path;  // "train.lr"
  std::string origin;
  std::vector<ConfigValue> values;
};

// Every combination of the values of its axes, numbered 0..size-1: axes are sorted by path, the last one
// changes fastest, so the order depends on nothing but the content.
class Grid {
 public:
  // A list, or a series string (study/axis.h), on a field is an axis; on a field that itself takes a
  // list (task.blanks, say) only a list of lists is. Throws Error(usage) with the place for an empty axis,
  // a value twice on one axis, and more than kMostRuns combinations.
  explicit Grid(ConfigValue tree);

  std::int64_t size() const { return size_; }
  const std::vector<Axis>& axes() const { return axes_; }

  // The tree with a single value in each axis.
  ConfigValue point(std::int64_t number) const;
  // "train.lr = 0.001, train.seed = 42"; "" if there are no axes.
  std::string describe(std::int64_t number) const;

  // The checked runs, in order. An impossible combination and two combinations that are the same run are
  // Error(usage) that name them.
  std::vector<RunConfig> runs() const;

 private:
  std::size_t choice(std::int64_t number, std::size_t axis) const;

  ConfigValue tree_;
  std::vector<Axis> axes_;
  std::int64_t size_ = 1;
};

}  // namespace mneme
