// What mneme-worker asks of Python, without a header of Python's: the bridge is a library of its own,
// libmneme_python.so, that is loaded when the first Python mixer is asked for (docs/python.md says why).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/mixer_entry.h"
#include "catalog/python_class.h"
#include "ops/torch.h"

namespace mneme::mixers {

struct PythonTensor {
  std::string name;     // "attend.weight"
  torch::Tensor value;  // the module's own: moving its data moves the module's
  bool of_linear;       // a parameter of a torch.nn.Linear
};

// One instance of a user's class. What its methods raise comes out as Error(runs_failed) with the last lines of the
// traceback.
class PythonModule {
 public:
  virtual ~PythonModule() = default;

  virtual std::vector<PythonTensor> parameters() const = 0;
  virtual std::vector<PythonTensor> buffers() const = 0;  // and parameters that are not trained
  // torch's generator starts at `seed`, so that a dropout in the module repeats.
  virtual torch::Tensor forward(const torch::Tensor& x, bool training, std::uint64_t seed) = 0;

  virtual bool has_step() const = 0;
  virtual std::vector<torch::Tensor> initial_state(std::int64_t batch) = 0;
  virtual torch::Tensor step(std::vector<torch::Tensor>& state, const torch::Tensor& x) = 0;
  // What state_size(length) says, if the class has it.
  virtual std::optional<std::int64_t> state_size(std::int64_t length) = 0;
};

struct PythonCall {
  std::string folder, file, class_name;
  std::string arguments;  // keyword arguments, as JSON
  std::int64_t width, length, layer;
};

class PythonBridge {
 public:
  virtual ~PythonBridge() = default;
  // What catalog::PythonMixers::describe returns, as JSON.
  virtual std::string describe(const std::string& file, const std::string& class_name) = 0;
  // Calls the class with torch's generator at `seed`. An exception is Error(usage): the arguments do not fit.
  virtual std::unique_ptr<PythonModule> build(const PythonCall& call, std::uint64_t seed) = 0;
  // Version of Python and of its torch, for fingerprints.
  virtual std::string versions() = 0;
};

// Loaded at the first call. Throws Error(io) that says what is missing.
PythonBridge& python_bridge();
// True once it is.
bool is_python_loaded();

}  // namespace mneme::mixers
