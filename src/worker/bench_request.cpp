#include "worker/bench_request.h"

#include <vector>

#include "catalog/run_config.h"
#include "train/sgemm.h"
#include "train/timing.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/fingerprint.h"

namespace mneme {
namespace {

// The rate of the multiplications a block consists of, each weighted by its work.
double sgemm_at_model_shapes(const RunConfig& run) {
  const std::int64_t tokens = run.train.integer("micro_batch") * run.shape.length, D = run.model.integer("width");
  struct Shape {
    std::int64_t k, n;
  };
  double work = 0, time = 0;
  for (const auto& [k, n] : {Shape{D, 3 * D}, Shape{D, D}, Shape{D, 4 * D}, Shape{4 * D, D}}) {
    const double flops = 2.0 * static_cast<double>(tokens * k * n);
    work += flops;
    time += flops / sgemm_rate(tokens, k, n);
  }
  return work / time;
}

}  // namespace

void carry_out_bench(const Json& request) {
  const RunConfig run = resolve_run(config_from_json(request.at("config"), "request"));
  const double seconds = request.value("seconds", 10.0);
  Trainer trainer(run);
  const std::vector<double> steps = time_calls([&] { trainer.step(); }, seconds);

  const double step = median(steps);
  const auto batch = static_cast<double>(run.train.integer("batch"));
  // Backward is twice the work of forward.
  const double flops = 3.0 * batch * run.forward_flops_per_example() / step;
  const double square = sgemm_rate(1024, 1024, 1024, 1.0);
  const double shapes = sgemm_at_model_shapes(run);
  send_event("measured", {{"result",
                           {{"config", run.json},
                            {"steps", steps.size()},
                            {"step_seconds", step},
                            {"tokens_per_second", batch * static_cast<double>(run.shape.length) / step},
                            {"useful_flops", flops},
                            {"sgemm_square_flops", square},
                            {"sgemm_model_flops", shapes},
                            {"mfu_square", flops / square},
                            {"mfu_model", flops / shapes},
                            {"fingerprint", fingerprint()}}}});
}

}  // namespace mneme
