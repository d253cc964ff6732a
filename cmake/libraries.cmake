# Debian 12 packages that Mneme is built from (script/bootstrap installs them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})

if(MNEME_FUZZ)
  return()  # fuzzers stand on the core library alone
endif()

find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
add_library(hwy ALIAS PkgConfig::HWY)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
add_library(pq ALIAS PkgConfig::PQ)

# Matrix multiplication inside kernels; libtorch calls the same library.
find_path(CBLAS_INCLUDE cblas.h REQUIRED PATH_SUFFIXES openblas-pthread)
find_library(OPENBLAS openblas REQUIRED)
add_library(openblas INTERFACE)
target_include_directories(openblas SYSTEM INTERFACE ${CBLAS_INCLUDE})
target_link_libraries(openblas INTERFACE ${OPENBLAS})

# libtorch without its CMake package: Debian's pulls in CUDA checks and protobuf that nothing here needs.
# Set TORCH_ROOT to use another libtorch (a 2.x download, a CUDA build).
set(TORCH_ROOT "" CACHE PATH "Root of a libtorch installation; empty for the system's")
find_path(TORCH_API torch/torch.h REQUIRED
  HINTS ${TORCH_ROOT}/include/torch/csrc/api/include
  PATH_SUFFIXES torch/csrc/api/include)
find_path(TORCH_INCLUDE ATen/ATen.h REQUIRED HINTS ${TORCH_ROOT}/include)
find_library(TORCH_CPU torch_cpu REQUIRED HINTS ${TORCH_ROOT}/lib)
find_library(TORCH torch REQUIRED HINTS ${TORCH_ROOT}/lib)
find_library(C10 c10 REQUIRED HINTS ${TORCH_ROOT}/lib)
add_library(torch_cpu INTERFACE)
target_include_directories(torch_cpu SYSTEM INTERFACE ${TORCH_API} ${TORCH_INCLUDE})
target_link_libraries(torch_cpu INTERFACE ${TORCH} ${TORCH_CPU} ${C10} Threads::Threads)
