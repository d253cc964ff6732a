// Mixers that users write in Python: `FILE.py:Class` becomes an entry like those of the catalog.
//
// What a class declares can only be told by Python, and what it holds and does only by building it. Whoever can do that
// is installed once per process: in the worker the bridge itself, in the front end a client that asks a worker. Answers
// are kept in the store under the hash of the source, so planning an unchanged file starts no Python.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "catalog/mixer_entry.h"
#include "catalog/python_class.h"

namespace mneme::catalog {

class PythonMixers {
 public:
  virtual ~PythonMixers() = default;
  // {"source", "files", "summary", "arguments", "causal", "knows_order", ...} of a class, from its file. What it tells
  // is in the store when it returns.
  virtual Json describe(const Path& file, const std::string& class_name) = 0;
  // {"parameters", "state", "flops"} of the class with these options.
  virtual Json measure(const PythonClass& python, const MixerContext& context, const Json& options) = 0;
  // {"knows_order"}, if the class does not say.
  virtual Json try_order(const PythonClass& python, const Json& options) = 0;
};

void use_python_mixers(std::shared_ptr<PythonMixers> mixers);

// The entry of `FILE.py:Class`. `table` are its options as they are written, or null: the version of a `source` in them
// is found without the file. A relative path is looked for next to the file that `origin` names, then in the current
// directory. Throws Error(data) if there is no such file, Error(usage) if it cannot be used.
const MixerEntry& find_python_mixer(std::string_view name, const ConfigValue* model, std::string_view origin);

// Those that were found so far.
std::vector<const MixerEntry*> python_mixers();

}  // namespace mneme::catalog
