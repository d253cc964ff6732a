#include "worker/bench_train_request.h"

#include <sys/resource.h>

#include <functional>
#include <span>
#include <vector>

#include "check/tensor_memory.h"
#include "config/run_config.h"
#include "core/timing.h"
#include "measure/recording.h"
#include "measure/sgemm.h"
#include "measure/step_parts.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/fingerprint.h"
#include "worker/training_case.h"

namespace mneme::worker {
namespace {

constexpr std::size_t kProfiledSteps = 3;

// Steps and sgemm take turns: what else the machine does then slows both, and less of it is in their ratio.
constexpr int kTurns = 5;

struct Turn {
  // Both clocks over the same steps: the wall's is the user's time, the thread's barely depends on what else the
  // machine does.
  std::vector<double> wall, thread;
  double square = 0, shapes = 0;  // sgemm
};

std::vector<ops::ProfileCell> profile_steps(train::Trainer& trainer) {
  const ops::Profile profile;
  for (std::size_t step = 0; step < kProfiledSteps; ++step) trainer.step();
  return profile.cells();
}

std::int64_t most_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// A model without a matrix multiplication of libtorch is compared with one of its own width.
std::vector<measure::GemmUse> compared_gemms(std::vector<measure::GemmUse> uses, const config::RunConfig& run) {
  const std::int64_t D = run.model.integer("width");
  if (uses.empty())
    uses.push_back({measure::GemmShape{run.train.integer("micro_batch") * run.shape.length, D, D}, 1.0});
  return uses;
}

Turn take_turn(train::Trainer& trainer, double seconds, std::span<const measure::GemmUse> gemms) {
  Turn turn;
  const double start = now(Clock::wall);
  do {
    const double wall = now(Clock::wall), thread = now(Clock::thread);
    trainer.step();
    turn.wall.push_back(now(Clock::wall) - wall);
    turn.thread.push_back(now(Clock::thread) - thread);
  } while (now(Clock::wall) - start < seconds);
  turn.square = measure::sgemm_rate(measure::GemmShape{1024, 1024, 1024}, 0.2);
  turn.shapes = measure::sgemm_rate(gemms, 0.03);
  return turn;
}

// The median over turns.
double median_of(std::span<const Turn> turns, const std::function<double(const Turn&)>& value) {
  std::vector<double> values;
  for (const Turn& turn : turns) values.push_back(value(turn));
  return median(values);
}

// The median over the steps of all turns.
double median_step(std::span<const Turn> turns, std::vector<double> Turn::*clock) {
  std::vector<double> values;
  for (const Turn& turn : turns) values.insert(values.end(), (turn.*clock).begin(), (turn.*clock).end());
  return median(values);
}

Json gemm_json(const std::vector<measure::GemmUse>& uses) {
  Json list = Json::array();
  for (const measure::GemmUse& use : uses)
    list.push_back({{"m", use.shape.m}, {"k", use.shape.k}, {"n", use.shape.n}, {"flop", use.flops}});
  return list;
}

}  // namespace

void carry_out_bench_train(const Json& request) {
  const config::RunConfig run = config::resolve_run(config_from_json(request.at("config"), "request"));
  train::Trainer trainer(run);
  if (const std::string file = request.value("case", ""); !file.empty()) save_training_case(file, trainer, run);
  // The first step touches its memory for the first time, and is not measured.
  const std::vector<measure::GemmUse> gemms = measure::gemms_of([&] { trainer.step(); }),
                                      compared = compared_gemms(gemms, run);
  std::vector<Turn> turns;
  std::size_t steps = 0;
  for (int i = 0; i < kTurns; ++i) {
    turns.push_back(take_turn(trainer, request.value("seconds", 10.0) / kTurns, compared));
    steps += turns.back().wall.size();
  }
  const double step = median_step(turns, &Turn::wall), thread_step = median_step(turns, &Turn::thread);
  const std::int64_t tensors = check::peak_tensor_memory([&] { trainer.step(); });
  const std::int64_t resident = most_resident_bytes();
  const std::vector<ops::ProfileCell> cells = profile_steps(trainer);
  const measure::RecordingCost cost = measure::recording_cost(run, trainer.parameters().gradients);

  const auto batch = static_cast<double>(run.train.integer("batch"));
  // Backward is twice the work of forward.
  const double flop = 3.0 * batch * run.forward_flops_per_example();
  const auto share_of = [&](double Turn::*rate) {
    return median_of(turns, [&](const Turn& turn) { return flop / median(turn.thread) / (turn.*rate); });
  };
  Json result = {{"config", run.json()},
                 {"parameters", run.parameters()},
                 {"steps", steps},
                 {"step_seconds", step},
                 {"step_thread_seconds", thread_step},
                 {"tokens_per_second", batch * static_cast<double>(run.shape.length) / step},
                 {"useful_flop", flop},
                 {"useful_flops", flop / thread_step},
                 {"sgemm_square_flops", median_of(turns, [](const Turn& turn) { return turn.square; })},
                 {"sgemm_model_flops", median_of(turns, [](const Turn& turn) { return turn.shapes; })},
                 {"mfu_square", share_of(&Turn::square)},
                 {"mfu_model", share_of(&Turn::shapes)},
                 {"gemms", gemm_json(gemms)},
                 {"recording_seconds", cost.recording},
                 {"gradient_norm_seconds", cost.gradient_norm},
                 {"tensor_bytes", tensors},
                 {"resident_bytes", resident},
                 {"parts", measure::step_parts(cells, kProfiledSteps, run)},
                 {"fingerprint", fingerprint()}};
  if (request.value("profile", false)) result["operations"] = measure::step_operations(cells, kProfiledSteps);
  send_event("measured", {{"result", std::move(result)}});
}

}  // namespace mneme::worker
