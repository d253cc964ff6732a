// A configuration in which some fields have several values, and the runs that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "config/run_series.h"
#include "core/config.h"
#include "study/axis.h"
#include "study/conditions.h"

namespace mneme::study {

struct Axis {
  std::string path;  // "train.lr"
  std::string origin;
  std::vector<ConfigValue> values;
};

// Axes that vary together, by their paths.
struct Zip {
  std::vector<std::string> paths;
  std::string origin;
};

// Every combination of the values of its axes, numbered 0..size-1: axes are sorted by path, the last one
// changes fastest, so the order depends on nothing but the content. Zipped axes count as one, at the place of the
// first of them.
class Grid {
 public:
  // A list, or a series string (study/axis.h), on a field is an axis; on a field that itself takes a
  // list (task.blanks, say) only a list of lists is. Throws Error(usage) with the place for an empty axis,
  // a value twice on one axis, zipped axes of different lengths or zipped with a single value, and more than
  // kMostRuns combinations.
  explicit Grid(ConfigValue tree, const std::vector<Zip>& zips = {});

  std::int64_t size() const { return size_; }
  const std::vector<Axis>& axes() const { return axes_; }

  // The tree with a single value in each axis, and dependent values settled (study/dependent.h).
  ConfigValue point(std::int64_t number) const;
  // "train.lr = 0.001, train.seed = 42"; "" if there are no axes.
  std::string describe(std::int64_t number) const;

  // The checked runs, in order, without the excluded ones. Options of a mixer vary only where that mixer is used: with
  // another one, all their values are one point. An impossible combination and two other combinations that are the same
  // run are Error(usage) that name them.
  std::vector<config::RunConfig> runs(std::vector<Conditions>& exclusions) const;
  std::vector<config::RunConfig> runs() const;

 private:
  // Which value of the axis the point has.
  std::size_t choice(std::int64_t number, std::size_t axis) const;
  // The points in turn, each made from the one before.
  class Cursor;
  // Nothing if the point is excluded.
  std::optional<config::RunConfig> run(std::int64_t number, std::vector<Conditions>& exclusions, Cursor& cursor,
                                       config::RunSeries& series) const;
  // The axes in which two points that are this run differ, if all of them are options of mixers that it does not have;
  // else empty.
  std::vector<std::size_t> axes_of_other_mixers(std::int64_t first, std::int64_t second,
                                                const config::RunConfig& run) const;
  [[noreturn]] void fail_twice(std::int64_t first, std::int64_t second, const std::string& id) const;

  ConfigValue tree_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> dimension_;  // of each axis
  std::vector<std::int64_t> stride_;    // of each dimension
  std::int64_t size_ = 1;
  bool dependents_ = false;
};

}  // namespace mneme::study
