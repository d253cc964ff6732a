#include "mixers/python_bridge.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"

namespace mneme::mixers {
namespace {

constexpr const char* kFile = "libmneme_python.so";
PythonBridge* loaded = nullptr;

Path bridge_file() {
  if (const char* chosen = std::getenv("MNEME_PYTHON_BRIDGE"); chosen && *chosen) return chosen;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kFile;
}

PythonBridge& load() {
  const Path file = bridge_file();
  if (!std::filesystem::exists(file))
    throw Error(ErrorKind::io, file.string(),
                "Python mixers need this library, which is built if pybind11-dev, python3-dev and python3-torch are "
                "installed and MNEME_PYTHON is not OFF: install them, then configure and build again (docs/python.md)");
  // Extension modules (NumPy, torch) look for Python's own functions among the global ones.
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw Error(ErrorKind::io, file.string(),
                fmt::format("cannot be loaded: {}; expected Python and torch as they were when it was built "
                            "(docs/python.md)",
                            ::dlerror()));
  auto* start = reinterpret_cast<PythonBridge* (*)()>(::dlsym(library, "mneme_python_bridge"));
  if (!start) throw Error(ErrorKind::io, file.string(), "is not a bridge to Python of this version");
  return *start();
}

}  // namespace

PythonBridge& python_bridge() {
  if (!loaded) loaded = &load();
  return *loaded;
}

bool is_python_loaded() { return loaded != nullptr; }

}  // namespace mneme::mixers
