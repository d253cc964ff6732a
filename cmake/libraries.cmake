# Debian packages that Mneme is built from (script/bootstrap installs them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost REQUIRED)  # headers of Asio and Beast

find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})

if(MNEME_FUZZ)
  return()  # fuzzers link the core library alone
endif()

find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
add_library(hwy ALIAS PkgConfig::HWY)
# Every kernel is compiled once per target, so each target costs as much compiler time as the next. Left out are targets that
# no processor gains from: SSSE3 (processors of 2006 and 2007 run the baseline) and the younger AVX-512 sets, whose additions
# over AVX3 are instructions for integers, bytes and half floats. Kernels are float32 and float64.
set(disabled_targets HWY_SSSE3 HWY_AVX3_DL)
if(HWY_VERSION VERSION_GREATER_EQUAL 1.0.5)
  list(APPEND disabled_targets HWY_AVX3_ZEN4 HWY_AVX3_SPR)
endif()
list(JOIN disabled_targets "|" disabled_targets)
set(MNEME_KERNEL_DEFINITIONS "HWY_DISABLED_TARGETS=(${disabled_targets})")
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
add_library(pq ALIAS PkgConfig::PQ)

# Matrix multiplication inside kernels; libtorch calls the same library.
find_path(CBLAS_INCLUDE cblas.h REQUIRED PATH_SUFFIXES openblas-pthread)
find_library(OPENBLAS openblas REQUIRED)
add_library(openblas INTERFACE)
target_include_directories(openblas SYSTEM INTERFACE ${CBLAS_INCLUDE})
target_link_libraries(openblas INTERFACE ${OPENBLAS})

# libtorch without its CMake package: Debian's pulls in CUDA checks and protobuf that nothing here needs.
# Another one is taken with CMAKE_PREFIX_PATH: the folder of the official archive, or what a PyTorch wheel calls
# torch.utils.cmake_prefix_path, which is two folders below the one that has include and lib.
set(torch_roots "")
foreach(prefix ${CMAKE_PREFIX_PATH})
  if(EXISTS ${prefix}/Torch/TorchConfig.cmake)
    cmake_path(SET above NORMALIZE ${prefix}/../..)
    list(APPEND torch_roots ${above})
  endif()
endforeach()
find_path(TORCH_INCLUDE ATen/ATen.h REQUIRED HINTS ${torch_roots} PATH_SUFFIXES include)
find_path(TORCH_API torch/torch.h REQUIRED PATHS ${TORCH_INCLUDE}/torch/csrc/api/include NO_DEFAULT_PATH)
cmake_path(GET TORCH_INCLUDE PARENT_PATH torch_root)
# Header and library of one installation: from a folder of its own, the libraries next to its headers, or none.
set(torch_places HINTS ${torch_root}/lib)
if(NOT torch_root STREQUAL "/usr")
  set(torch_places PATHS ${torch_root}/lib NO_DEFAULT_PATH)
  set(torch_config ${torch_root}/share/cmake/Torch/TorchConfig.cmake)
  if(EXISTS ${torch_config})
    file(STRINGS ${torch_config} old_strings REGEX "_GLIBCXX_USE_CXX11_ABI=0")
    if(old_strings)
      message(FATAL_ERROR "${torch_root}: this libtorch was built with the strings of GCC 4 (_GLIBCXX_USE_CXX11_ABI=0), "
        "which no other library of Debian has. Take one with the C++11 ABI: docs/building.md.")
    endif()
  endif()
endif()
find_library(TORCH_CPU torch_cpu REQUIRED ${torch_places})
find_library(TORCH torch REQUIRED ${torch_places})
find_library(C10 c10 REQUIRED ${torch_places})
add_library(torch_cpu INTERFACE)
target_include_directories(torch_cpu SYSTEM INTERFACE ${TORCH_API} ${TORCH_INCLUDE})
target_link_libraries(torch_cpu INTERFACE ${TORCH} ${TORCH_CPU} ${C10} Threads::Threads)
# The headers of libtorch before 2.1 hold vectors of a type that is not complete yet; clang accepts them only after that type.
target_compile_options(torch_cpu INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-include ATen/core/ivalue.h>")
# A libtorch with CUDA announces its devices when this library is loaded; nothing calls it by name (docs/devices.md).
find_library(TORCH_CUDA torch_cuda ${torch_places})
find_library(C10_CUDA c10_cuda ${torch_places})
if(TORCH_CUDA AND C10_CUDA)
  message(STATUS "Devices: CUDA, from ${TORCH_CUDA}")
  target_link_libraries(torch_cpu INTERFACE -Wl,--no-as-needed ${TORCH_CUDA} ${C10_CUDA} -Wl,--as-needed)
endif()
