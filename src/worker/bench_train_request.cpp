#include "worker/bench_train_request.h"

#include <sys/resource.h>

#include <vector>

#include "catalog/run_config.h"
#include "check/tensor_memory.h"
#include "core/timing.h"
#include "train/sgemm.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/fingerprint.h"
#include "worker/step_parts.h"
#include "worker/training_case.h"

namespace mneme {
namespace {

constexpr std::size_t kProfiledSteps = 3;

struct StepTimes {
  std::vector<double> wall, thread;
};

// Both clocks over the same steps: the wall's is the user's time, the thread's hardly depends on what else the machine
// does.
StepTimes time_steps(Trainer& trainer, double seconds) {
  StepTimes times;
  times.wall = time_calls(
      [&] {
        const double before = now(Clock::thread);
        trainer.step();
        times.thread.push_back(now(Clock::thread) - before);
      },
      seconds);
  times.thread.erase(times.thread.begin());
  return times;
}

std::vector<ProfileCell> profile_steps(Trainer& trainer) {
  const Profile profile;
  for (std::size_t step = 0; step < kProfiledSteps; ++step) trainer.step();
  return profile.cells();
}

std::int64_t most_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// A model without a matrix multiplication of libtorch is compared with one of its own width.
double rate_at_model_shapes(const std::vector<GemmUse>& uses, const RunConfig& run) {
  if (!uses.empty()) return sgemm_rate(uses);
  const std::int64_t D = run.model.integer("width");
  return sgemm_rate(GemmShape{run.train.integer("micro_batch") * run.shape.length, D, D});
}

Json gemm_json(const std::vector<GemmUse>& uses) {
  Json list = Json::array();
  for (const GemmUse& use : uses)
    list.push_back({{"m", use.shape.m}, {"k", use.shape.k}, {"n", use.shape.n}, {"flop", use.flops}});
  return list;
}

}  // namespace

void carry_out_bench_train(const Json& request) {
  const RunConfig run = resolve_run(config_from_json(request.at("config"), "request"));
  Trainer trainer(run);
  if (const std::string file = request.value("case", ""); !file.empty()) save_training_case(file, trainer, run);
  const StepTimes times = time_steps(trainer, request.value("seconds", 10.0));
  const double step = median(times.wall), thread_step = median(times.thread);
  const std::int64_t tensors = peak_tensor_memory([&] { trainer.step(); });
  const std::int64_t resident = most_resident_bytes();
  const std::vector<ProfileCell> cells = profile_steps(trainer);
  const std::vector<GemmUse> gemms = gemms_of([&] { trainer.step(); });

  const auto batch = static_cast<double>(run.train.integer("batch"));
  // Backward is twice the work of forward.
  const double flop = 3.0 * batch * run.forward_flops_per_example();
  const double square = sgemm_rate(GemmShape{1024, 1024, 1024}, 1.0), shapes = rate_at_model_shapes(gemms, run);
  Json result = {{"config", run.json},
                 {"parameters", run.parameters()},
                 {"steps", times.wall.size()},
                 {"step_seconds", step},
                 {"step_thread_seconds", thread_step},
                 {"tokens_per_second", batch * static_cast<double>(run.shape.length) / step},
                 {"useful_flop", flop},
                 {"useful_flops", flop / thread_step},
                 {"sgemm_square_flops", square},
                 {"sgemm_model_flops", shapes},
                 {"mfu_square", flop / thread_step / square},
                 {"mfu_model", flop / thread_step / shapes},
                 {"gemms", gemm_json(gemms)},
                 {"tensor_bytes", tensors},
                 {"resident_bytes", resident},
                 {"parts", step_parts(cells, kProfiledSteps, run)},
                 {"fingerprint", fingerprint()}};
  if (request.value("profile", false)) result["operations"] = step_operations(cells, kProfiledSteps);
  send_event("measured", {{"result", std::move(result)}});
}

}  // namespace mneme
