#include "worker/bench_mixer_request.h"

#include <string>
#include <vector>

#include "check/tensor_memory.h"
#include "core/error.h"
#include "core/safetensors.h"
#include "core/timing.h"
#include "measure/sgemm.h"
#include "mixers/mixer.h"
#include "models/initialise.h"
#include "nn/nested.h"
#include "worker/events.h"
#include "worker/fingerprint.h"

namespace mneme::worker {
namespace {

struct Workload {
  const catalog::MixerEntry& entry;
  catalog::MixerContext context;
  Options options;
  std::int64_t batch;
};

// One mixer with its own initial values, an input and what comes back for its output; all a function of the sizes.
class MixerUnderTest {
 public:
  explicit MixerUnderTest(const Workload& work)
      : work_(work), mixer_(mixers::build_mixer(work.entry, work.context, work.options)) {
    const nn::Draw draw(0);
    // initialise() walks the children of a model.
    nn::Nested<mixers::Mixer> model("mixer", mixer_);
    models::initialise(model, {.scheme = "torch"}, draw);
    x_ = torch::empty({work.batch, work.context.length, work.context.width});
    draw.normal(x_, "input", 1.0);
    x_.requires_grad_(true);
    dy_ = torch::empty(forward().sizes());
    draw.normal(dy_, "grad_output", 1.0);
  }

  torch::Tensor forward() {
    nn::Pass pass = nn::Pass::training(0, 0, 0);
    return mixer_->forward(x_, pass);
  }

  // Forward and backward, down to the gradients of the parameters and of the input.
  void step() {
    forward().backward(dy_);
    clear();
  }

  // A golden case (docs of `mneme verify`) of this very workload: other programs can measure the same thing.
  void save(const Path& path) {
    std::map<std::string, torch::Tensor> tensors = {{"input", x_.detach()}, {"grad_output", dy_}};
    const torch::Tensor y = forward();
    y.backward(dy_);
    tensors["output"] = y.detach().contiguous();
    tensors["grad_input"] = x_.grad().contiguous();
    for (const auto& item : mixer_->named_parameters()) {
      tensors["param." + item.key()] = item.value().detach().contiguous();
      if (item.value().grad().defined()) tensors["grad." + item.key()] = item.value().grad().contiguous();
    }
    std::map<std::string, TensorView> views;
    for (const auto& [name, tensor] : tensors)
      views[name] = {"F32", tensor.sizes().vec(),
                     std::as_bytes(std::span(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())))};
    Json config = work_.options.values();
    config["d_model"] = work_.context.width;
    config["l_max"] = work_.context.length;
    save_safetensors(path, views, {{"mixer", work_.entry.name}, {"config", config.dump()}, {"source", "mneme bench"}});
    clear();
  }

 private:
  void clear() {
    x_.mutable_grad() = torch::Tensor();
    for (torch::Tensor& parameter : mixer_->parameters()) parameter.mutable_grad() = torch::Tensor();
  }

  Workload work_;
  mixers::MixerPointer mixer_;
  torch::Tensor x_, dy_;
};

Json measure(const Workload& work, double seconds, const std::string& case_file) {
  MixerUnderTest mixer(work);
  if (!case_file.empty()) mixer.save(case_file);
  const std::vector<double> times = time_calls([&] { mixer.step(); }, seconds, 3, Clock::thread);
  const double step = median(times), batch = static_cast<double>(work.batch);
  return {{"length", work.context.length},
          {"steps", times.size()},
          {"step_seconds", step},
          {"tokens_per_second", batch * static_cast<double>(work.context.length) / step},
          // Backward is twice the work of forward.
          {"useful_flops", 3.0 * batch * work.entry.flops(work.context, work.options) / step},
          {"peak_bytes", check::peak_tensor_memory([&] { mixer.step(); })}};
}

std::vector<double> column(const Json& rows, const char* key) {
  std::vector<double> values;
  for (const Json& row : rows) values.push_back(row.at(key).get<double>());
  return values;
}

}  // namespace

void carry_out_bench_mixer(const Json& request) {
  const catalog::MixerEntry& entry = catalog::find_mixer(request.at("mixer").get<std::string>(), "mixer");
  const ConfigValue table = config_from_json(request.value("options", Json::object()), "options");
  const Options options = resolve(entry.options, &table, entry.name);
  const auto width = request.at("width").get<std::int64_t>(), batch = request.at("batch").get<std::int64_t>();
  const std::string case_file = request.value("case", "");

  Json rows = Json::array();
  for (const auto length : request.at("lengths").get<std::vector<std::int64_t>>()) {
    const catalog::MixerContext context{width, length, 0, 1};
    entry.validate(context, options);
    rows.push_back(
        measure({entry, context, options, batch}, request.value("seconds", 3.0), rows.empty() ? case_file : ""));
  }
  const double square = measure::sgemm_rate(measure::GemmShape{1024, 1024, 1024}, 0.5);
  for (Json& row : rows) row["mfu_square"] = row["useful_flops"].get<double>() / square;
  Json result = {
      {"mixer", entry.name}, {"family", entry.family}, {"options", options.values()},  {"width", width},
      {"batch", batch},      {"rows", rows},           {"sgemm_square_flops", square}, {"fingerprint", fingerprint()}};
  if (rows.size() > 1) {
    const std::vector<double> lengths = column(rows, "length");
    result["time_exponent"] = fitted_exponent(lengths, column(rows, "step_seconds"));
    result["memory_exponent"] = fitted_exponent(lengths, column(rows, "peak_bytes"));
  }
  send_event("measured", {{"result", result}});
}

}  // namespace mneme::worker
