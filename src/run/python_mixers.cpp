#include "run/python_mixers.h"

#include "run/worker.h"

namespace mneme::run {
namespace {

Json question(const char* kind, const catalog::PythonClass& python, const Json& options) {
  return {{"request", kind}, {"mixer", python.name.canonical()}, {"source", python.source}, {"options", options}};
}

}  // namespace

Json AskedMixers::answer(const Json& request, std::string_view last, const char* field) {
  const Path program = find_worker();
  if (!worker_) worker_ = std::make_unique<LineProcess>(worker_options(program));
  Json found;
  try {
    ask_worker(*worker_, program, request, last, [&](const Json& event) {
      if (event["event"] == last) found = event.at(field);
    });
  } catch (...) {
    worker_.reset();
    throw;
  }
  return found;
}

Json AskedMixers::describe(const Path& file, const std::string& class_name) {
  return answer(
      {{"request", "describe_mixer"}, {"file", std::filesystem::absolute(file).string()}, {"class", class_name}},
      "described", "declaration");
}

Json AskedMixers::measure(const catalog::PythonClass& python, const catalog::MixerContext& context,
                          const Json& options) {
  Json request = question("measure_mixer", python, options);
  request["width"] = context.width;
  request["length"] = context.length;
  request["layer"] = context.layer;
  request["layers"] = context.layers;
  return answer(request, "measured", "values");
}

Json AskedMixers::try_order(const catalog::PythonClass& python, const Json& options) {
  return answer(question("try_order", python, options), "tried", "values");
}

}  // namespace mneme::run
