// Which of its kernels OpenBLAS runs. It chooses them by the processor's model, and for a model younger than itself it
// takes those of a processor of 2004: on such machines sgemm has a fifth of the speed that the instructions at hand
// give.
#pragma once

#include <string>

namespace mneme::kernels {

// "SkylakeX", "Haswell", ...; "unknown" if BLAS is another library. A part of a run's fingerprint.
std::string blas_core();

// The core of OpenBLAS that a processor with these instructions should have instead; empty if `core` will do.
std::string better_blas_core(const std::string& core, bool has_avx2, bool has_avx512);

// Starts this program again, as `program` with the same arguments and descriptors, with the better core in
// OPENBLAS_CORETYPE: OpenBLAS reads the variable while it is loaded, so it is too late to set it here. Returns if
// there is no better core, if the variable is set (then somebody has chosen, or this is the second start), or if the
// program cannot be started again. Before anything is read from standard input.
void restart_with_better_blas_core(const char* program, char* const* argv);

// The same for a core that is known.
void restart_with_blas_core(const std::string& core, const char* program, char* const* argv);

}  // namespace mneme::kernels
