#include "worker/python_mixers.h"

#include "catalog/python_store.h"
#include "check/check.h"
#include "check/tensor_memory.h"
#include "core/error.h"
#include "measure/gemm_shapes.h"
#include "mixers/python_mixer.h"
#include "worker/events.h"

namespace mneme::worker {
namespace {

// An entry for one question: what it declares is not asked.
catalog::MixerEntry bare_entry(const catalog::PythonClass& python) {
  catalog::MixerEntry entry{};
  entry.name = python.name.canonical();
  entry.options = python.options();
  entry.validate = [](const catalog::MixerContext&, const Options&) {};
  entry.python = std::make_shared<const catalog::PythonClass>(python);
  return entry;
}

Options checked(const catalog::MixerEntry& entry, const Json& options) {
  const ConfigValue table = config_from_json(options, "request");
  return resolve(entry.options, &table, entry.table());
}

// What the module says; else what its step carries, taken from three tokens: constant, or growing by as much each time.
// Zero if there is nothing to ask.
std::int64_t state_of(mixers::PythonMixer& mixer, std::int64_t width, std::int64_t length) {
  if (const auto said = mixer.state_size(length)) return *said;
  if (!mixer.has_step()) return 0;
  mixers::MixerState state = mixer.initial_state(1);
  const torch::Tensor x = check::sample({1, width}, 3);
  mixer.step(state, x);
  const std::int64_t first = state.size();
  mixer.step(state, x);
  return first + (length - 1) * (state.size() - first);
}

// Matrix products, and one operation for every number that is written: what a plan needs to compare runs.
double flops_of(mixers::PythonMixer& mixer, std::int64_t width, std::int64_t length) {
  const torch::Tensor x = check::sample({1, length, width}, 5);
  double flops = 0;
  std::int64_t bytes = 0;
  const auto products =
      measure::gemms_of([&] { bytes = check::total_tensor_memory([&] { check::evaluate(mixer, x); }); });
  for (const measure::GemmUse& use : products) flops += use.flops;
  return flops + static_cast<double>(bytes) / sizeof(float);
}

}  // namespace

Json BridgedMixers::describe(const Path& file, const std::string& class_name) {
  const std::string answer = mixers::python_bridge().describe(std::filesystem::absolute(file).string(), class_name);
  Json description = parse_json(answer, file.string());
  catalog::store_class(catalog::python_store(), description, class_name);
  catalog::remember_files(file, class_name, description);
  description.erase("files");
  return description;
}

Json BridgedMixers::measure(const catalog::PythonClass& python, const catalog::MixerContext& context,
                            const Json& options) {
  const catalog::MixerEntry entry = bare_entry(python);
  mixers::PythonMixer mixer(entry, context, checked(entry, options));
  const torch::NoGradGuard guard;
  std::int64_t parameters = 0;
  for (const auto& parameter : mixer.parameters()) parameters += parameter.numel();
  return {{"parameters", parameters},
          {"state", state_of(mixer, context.width, context.length)},
          {"flops", flops_of(mixer, context.width, context.length)}};
}

Json BridgedMixers::try_order(const catalog::PythonClass& python, const Json& options) {
  const catalog::MixerEntry entry = bare_entry(python);
  const auto build = [&](const catalog::MixerContext& context, const Options& resolved) {
    return mixers::build_python_mixer(entry, context, resolved);
  };
  check::Subject subject{&entry, checked(entry, options), 0, build};
  // Not every width suits every mixer; the first complaint is told if none does.
  std::exception_ptr complaint;
  for (const std::int64_t width : {64, 32, 128, 16, 256, 8, 512}) {
    subject.width = width;
    try {
      return {{"knows_order", check::sees_order(subject)}};
    } catch (const Error&) {
      if (!complaint) complaint = std::current_exception();
    }
  }
  std::rethrow_exception(complaint);
}

namespace {

catalog::PythonClass class_of(const Json& request) {
  const catalog::PythonName name = catalog::parse_python_name(request.at("mixer").get<std::string>(), "request");
  const auto python = catalog::stored_class(name, request.at("source"));
  if (!python) throw Error(ErrorKind::data, name.canonical(), "this version is not in the store, expected it there");
  return *python;
}

}  // namespace

void carry_out_describe_mixer(const Json& request) {
  const std::string file = request.at("file");
  send_event("described", {{"declaration", BridgedMixers().describe(file, request.at("class"))}});
}

void carry_out_measure_mixer(const Json& request) {
  const catalog::MixerContext context{.width = request.at("width"),
                                      .length = request.at("length"),
                                      .layer = request.value("layer", std::int64_t{0}),
                                      .layers = request.value("layers", std::int64_t{1})};
  send_event("measured", {{"values", BridgedMixers().measure(class_of(request), context, request.at("options"))}});
}

void carry_out_try_order(const Json& request) {
  send_event("tried", {{"values", BridgedMixers().try_order(class_of(request), request.at("options"))}});
}

}  // namespace mneme::worker
