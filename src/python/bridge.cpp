// libmneme_python.so: Python inside mneme-worker. What it promises is in mixers/python_bridge.h; what Python does is in
// bridge.py. The interpreter lives to the end of the process. Nobody holds its lock but for the length of a call,
// because libtorch's backward pass takes it for functions that are written in Python.
#include <pybind11/embed.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

#include "core/error.h"
#include "mixers/python_bridge.h"
#include "python/bridge_source.h"

namespace mneme::python {
namespace {

namespace py = pybind11;
using mixers::PythonCall;
using mixers::PythonModule;
using mixers::PythonTensor;
using torch::Tensor;

py::object to_python(const Tensor& tensor) { return py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor)); }

Tensor to_tensor(const py::handle& object) {
  require(THPVariable_Check(object.ptr()), "a tensor from Python");
  return THPVariable_Unpack(object.ptr());
}

std::vector<Tensor> to_tensors(const py::handle& list) {
  std::vector<Tensor> result;
  for (const py::handle& item : list) result.push_back(to_tensor(item));
  return result;
}

py::list to_list(const std::vector<Tensor>& tensors) {
  py::list result;
  for (const Tensor& tensor : tensors) result.append(to_python(tensor));
  return result;
}

// torch's generator, as torch.manual_seed leaves it: the CPU's, and for a module elsewhere those of all devices.
void seed_generator(std::uint64_t seed, torch::Device device = torch::kCPU) {
  if (!device.is_cpu()) {
    at::manual_seed(seed);
    return;
  }
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

// Calls `work` with the interpreter's lock; what Python raises becomes an Error of this kind.
template <typename Work>
auto in_python(const py::module_& helper, ErrorKind kind, const std::string& where, const std::string& folder,
               Work work) {
  const py::gil_scoped_acquire gil;
  try {
    return work();
  } catch (py::error_already_set& error) {
    std::string message = error.what();
    try {
      // Python keeps an exception and where it was raised apart until somebody joins them.
      if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
      message = helper.attr("last_lines")(error.value(), folder).cast<std::string>();
    } catch (const py::error_already_set&) {
      // An exception that cannot be printed; its own text will have to do.
    }
    throw Error(kind, where, message);
  }
}

class Module : public PythonModule {
  template <typename Work>
  auto call(Work work) {
    return in_python(helper_, ErrorKind::runs_failed, name_, folder_, work);
  }

 public:
  Module(const py::module_& helper, const PythonCall& call)
      : helper_(helper), name_(call.file + ":" + call.class_name), folder_(call.folder) {
    module_ = helper.attr("build")(call.folder, call.file, call.class_name, call.arguments, call.width, call.length,
                                   call.layer);
    forward_ = helper.attr("forward");
    has_step_ = py::hasattr(module_, "step") && py::hasattr(module_, "initial_state");
    const py::tuple tensors = helper.attr("tensors")(module_);
    parameters_ = named(tensors[0]);
    buffers_ = named(tensors[1]);
    training_ = module_.attr("training").cast<bool>();
  }

  ~Module() override {
    const py::gil_scoped_acquire gil;
    module_ = forward_ = shape_ = py::object();
  }

  std::vector<PythonTensor> parameters() const override { return parameters_; }
  std::vector<PythonTensor> buffers() const override { return buffers_; }

  Tensor forward(const Tensor& x, bool training, std::uint64_t seed) override {
    return call([&] {
      if (training != training_) module_.attr("train")(training);
      training_ = training;
      seed_generator(seed, x.device());
      return to_tensor(forward_(module_, to_python(x)));
    });
  }

  bool has_step() const override { return has_step_; }

  std::vector<Tensor> initial_state(std::int64_t batch) override {
    return call([&] {
      const py::tuple state = helper_.attr("initial_state")(module_, batch);
      shape_ = state[1];
      return to_tensors(state[0]);
    });
  }

  Tensor step(std::vector<Tensor>& state, const Tensor& x) override {
    return call([&] {
      if (training_) module_.attr("train")(false);
      training_ = false;
      const py::tuple result = helper_.attr("step")(module_, to_list(state), shape_, to_python(x));
      state = to_tensors(result[1]);
      shape_ = result[2];
      return to_tensor(result[0]);
    });
  }

  std::optional<std::int64_t> state_size(std::int64_t length) override {
    const auto size = call([&] { return helper_.attr("state_size")(module_, length).cast<std::int64_t>(); });
    return size < 0 ? std::nullopt : std::optional(size);
  }

 private:
  static std::vector<PythonTensor> named(const py::handle& list) {
    std::vector<PythonTensor> result;
    for (const py::handle& item : list) {
      const auto parts = item.cast<py::tuple>();
      result.push_back({parts[0].cast<std::string>(), to_tensor(parts[1]), parts[2].cast<bool>()});
    }
    return result;
  }

  const py::module_& helper_;
  std::string name_, folder_;
  py::object module_, forward_, shape_ = py::none();
  bool has_step_ = false, training_ = true;
  std::vector<PythonTensor> parameters_, buffers_;
};

class Bridge : public mixers::PythonBridge {
 public:
  Bridge() {
    // After a first try that failed (there was no torch) the interpreter is there already.
    const bool again = Py_IsInitialized() != 0;
    const PyGILState_STATE held = again ? PyGILState_Ensure() : PyGILState_UNLOCKED;
    if (!again) start();
    helper_ = py::module_::create_extension_module("mneme_bridge", nullptr, new PyModuleDef());
    try {
      py::exec(kBridgeSource, helper_.attr("__dict__"));
      // What a module prints must not end up among the worker's events, and what it reads must not be a request.
      py::exec("sys.stdout = sys.stderr\nsys.stdin = open('/dev/null')", helper_.attr("__dict__"));
    } catch (const py::error_already_set& error) {
      throw Error(ErrorKind::io, MNEME_PYTHON_EXECUTABLE, error.what());
    }
    if (again)
      PyGILState_Release(held);
    else
      PyEval_SaveThread();
    in_python(helper_, ErrorKind::io, "Python", "", [&] { helper_.attr("require_torch")(MNEME_PYTHON_TORCH); });
  }

  std::string describe(const std::string& file, const std::string& class_name) override {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return in_python(helper_, ErrorKind::usage, file, folder,
                     [&] { return helper_.attr("describe")(file, class_name).cast<std::string>(); });
  }

  std::unique_ptr<PythonModule> build(const PythonCall& call, std::uint64_t seed) override {
    return in_python(helper_, ErrorKind::usage, call.file + ":" + call.class_name, call.folder, [&] {
      seed_generator(seed);
      helper_.attr("seed_others")(seed);
      return std::make_unique<Module>(helper_, call);
    });
  }

  std::string versions() override {
    return in_python(helper_, ErrorKind::io, "Python", "",
                     [&] { return helper_.attr("versions")().cast<std::string>(); });
  }

 private:
  // The Python that the build found, whatever else is first on the PATH: its executable tells it where its modules are.
  static void start() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.parse_argv = 0;
    config.install_signal_handlers = 0;
    config.write_bytecode = 0;
    // The worker's standard input may hold requests already, which a new buffer would lose.
    config.configure_c_stdio = 0;
    PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, MNEME_PYTHON_EXECUTABLE);
    if (!PyStatus_Exception(status))
      status = PyConfig_SetBytesString(&config, &config.executable, MNEME_PYTHON_EXECUTABLE);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
      throw Error(ErrorKind::io, MNEME_PYTHON_EXECUTABLE,
                  status.err_msg ? status.err_msg : "Python could not be started");
  }

  // Never destroyed, as a bridge that could not be built has lost Python's lock already.
  py::module_& helper_ = *new py::module_;
};

}  // namespace
}  // namespace mneme::python

extern "C" mneme::mixers::PythonBridge* mneme_python_bridge() {
  // Never destroyed: Python's objects outlive whatever could still use them.
  static auto* bridge = new mneme::python::Bridge();
  return bridge;
}
