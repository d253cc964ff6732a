// mneme-worker: carries out requests, one JSON line each, and answers with events (docs/worker-protocol.md).
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "core/code_identity.h"
#include "core/error.h"
#include "core/json.h"
#include "kernels/simd/blas_core.h"
#include "worker/bench_mixer_request.h"
#include "worker/bench_train_request.h"
#include "worker/check_request.h"
#include "worker/evaluate_request.h"
#include "worker/events.h"
#include "worker/failure.h"
#include "worker/fingerprint.h"
#include "worker/inspect_request.h"
#include "worker/measure_request.h"
#include "worker/python_mixers.h"
#include "worker/run_request.h"
#include "worker/stop.h"
#include "worker/verify_request.h"

namespace mneme::worker {
namespace {

// One thread everywhere: it is what makes results repeat to the bit, and runs are parallel anyway.
void use_one_thread() {
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  // OpenBLAS has a pool of its own; which BLAS libtorch uses is known only at run time.
  if (auto* set = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(1);
}

// Decays fall below the smallest normal numbers within a few hundred tokens, and arithmetic on what lies below is many
// times slower: such numbers are zero here.
void flush_denormals() { at::globalContext().setFlushDenormal(true); }

// Freed tensors stay with the process: giving pages back and faulting them in again costs as much as the arithmetic.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

// False if the worker was told to stop.
bool carry_out(const std::string& line) {
  Json id;
  try {
    const Json request = parse_json(line, "request");
    if (request.is_object() && request.contains("id")) id = request["id"];
    const std::string kind = request.is_object() ? request.value("request", "") : "";
    if (kind == "run") return carry_out_run(request);
    const LeaveAtOnce leave;
    if (kind == "measure") {
      carry_out_measure(request);
    } else if (kind == "evaluate") {
      carry_out_evaluate(request);
    } else if (kind == "verify") {
      carry_out_verify(request);
    } else if (kind == "bench_train") {
      carry_out_bench_train(request);
    } else if (kind == "inspect") {
      carry_out_inspect(request);
    } else if (kind == "check") {
      carry_out_check(request);
    } else if (kind == "bench_mixer") {
      carry_out_bench_mixer(request);
    } else if (kind == "describe_mixer") {
      carry_out_describe_mixer(request);
    } else if (kind == "measure_mixer") {
      carry_out_measure_mixer(request);
    } else if (kind == "try_order") {
      carry_out_try_order(request);
    } else {
      throw Error(ErrorKind::usage, "request",
                  "unknown request '" + kind +
                      "', expected run, evaluate, inspect, measure, verify, check, bench_train, bench_mixer, "
                      "describe_mixer, measure_mixer or try_order");
    }
  } catch (const std::exception& error) {
    Json fields = failure_of(error).fields();
    fields["id"] = id;
    send_event("failed", fields);
  }
  return true;
}

int serve() {
  use_one_thread();
  flush_denormals();
  keep_memory();
  install_stop_signals();
  catalog::use_python_mixers(std::make_shared<BridgedMixers>());
  send_event("ready", {{"version", this_code().version}, {"code", this_code().build}, {"fingerprint", fingerprint()}});
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty() && !carry_out(line)) return static_cast<int>(ErrorKind::interrupted);
  return stop_requested() ? static_cast<int>(ErrorKind::interrupted) : 0;
}

}  // namespace
}  // namespace mneme::worker

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool version = std::string(argv[1]) == "--version";
    if (version)
      std::puts(("mneme-worker " + mneme::describe(mneme::this_code())).c_str());
    else
      std::puts(
          "usage: mneme-worker < requests > events\nReads one JSON request per line and writes one JSON event per "
          "line; "
          "see docs/worker-protocol.md.\n`mneme` starts it; to try it by hand:\n"
          "  echo '{\"request\":\"verify\",\"files\":[\"tests/golden/mlp-m1.safetensors\"]}' | mneme-worker");
    return version || std::string(argv[1]) == "--help" ? 0 : 2;
  }
  mneme::kernels::restart_with_better_blas_core("/proc/self/exe", argv);
  return mneme::worker::serve();
}
