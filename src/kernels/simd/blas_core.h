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

// Has OpenBLAS choose again with the better core in OPENBLAS_CORETYPE. Before the first product, and not if the
// variable is set: then somebody has chosen. The functions it takes are the library's own but in no header; a library
// without them keeps its choice.
void use_better_blas_core();

}  // namespace mneme::kernels
