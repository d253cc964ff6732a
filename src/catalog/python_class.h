// One class of a user's Python file, in one version of its source.
#pragma once

#include <map>
#include <string>

#include "core/files.h"
#include "core/json.h"
#include "core/schema.h"

namespace mneme::catalog {

// "dir/gated_average.py:GatedAverage" in its parts.
struct PythonName {
  Path file;
  std::string class_name;

  // What configurations and tables say: without the folder, which changes nothing about the mixer.
  std::string canonical() const { return file.filename().string() + ":" + class_name; }
};

bool is_python_name(std::string_view name);
// Throws Error(usage) unless it is FILE.py:Class.
PythonName parse_python_name(std::string_view name, std::string_view origin);

struct PythonClass {
  PythonName name;
  std::string source;  // 16 hex digits over the file and the local modules that it imports
  Path folder;         // holds these files in just this version; "": they are not at hand
  Json declaration;    // what Python said of it (docs/worker-protocol.md)

  // The constructor's keyword arguments, and the two options that every Python mixer has.
  Schema options() const;
  // The keyword arguments of a call of the constructor: the options without Mneme's own, null for None.
  Json arguments(const Options& options) const;
  // False: neither `step` nor `state_size` says how large its state is, which then counts as 0.
  bool tells_state() const;
  // "module": it keeps the values that its constructor drew; "model": linear layers follow model.init.
  static bool is_initialised_by_model(const Options& options) { return options.text("init_by") == "model"; }
};

}  // namespace mneme::catalog
