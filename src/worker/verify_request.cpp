#include "worker/verify_request.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "worker/events.h"
#include "worker/golden_case.h"

namespace mneme::worker {
namespace {

double largest(const torch::Tensor& tensor) { return tensor.numel() == 0 ? 0.0 : tensor.abs().max().item<double>(); }

double largest_gradient(const GoldenCase& golden) {
  double result = 0;
  for (const auto& [name, tensor] : golden.tensors)
    if (name.starts_with("grad.") || name == "grad_input") result = std::max(result, largest(tensor));
  return result;
}

// Loads every param.* and returns the gradients that must come out, by their names in the file.
std::map<std::string, torch::Tensor> load_parameters(const GoldenCase& golden, torch::nn::Module& module,
                                                     const Path& path) {
  const torch::NoGradGuard guard;
  std::map<std::string, torch::Tensor> ours;
  for (const auto& item : module.named_parameters()) {
    const torch::Tensor& reference = golden.at("param." + item.key());
    if (reference.sizes() != item.value().sizes())
      throw Error(ErrorKind::mismatch, path.string(),
                  fmt::format("the shape of parameter '{}' differs from ours", item.key()));
    item.value().copy_(reference);
    ours["grad." + item.key()] = item.value();
  }
  for (const auto& [name, tensor] : golden.tensors)
    if (name.starts_with("param.") && !ours.contains("grad." + name.substr(6)))
      throw Error(ErrorKind::mismatch, path.string(),
                  fmt::format("our {} has no parameter '{}'", golden.mixer, name.substr(6)));
  return ours;
}

}  // namespace

Verification verify_case(const Path& path, double tolerance) {
  const GoldenCase golden = GoldenCase::load(path);
  Verification result{.ok = true, .mixer = golden.mixer, .tensor = "", .worst = 0, .message = ""};
  const GoldenModel model = build_golden_model(golden);
  const auto parameters = load_parameters(golden, *model.module, path);
  std::map<std::string, torch::Tensor> computed = model.run(golden);
  for (const auto& [name, parameter] : parameters)
    computed[name] = parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);

  const double floor = 1e-3 * largest_gradient(golden);
  for (const auto& [name, ours] : computed) {
    const torch::Tensor& reference = golden.at(name);
    if (reference.sizes() != ours.sizes())
      throw Error(ErrorKind::mismatch, path.string(), fmt::format("the shape of '{}' differs from ours", name));
    const bool is_gradient = name.starts_with("grad");
    const double allowed = tolerance * std::max(largest(reference), is_gradient ? floor : 0.0);
    const double error = largest(ours - reference);
    // A NaN must count as the worst there is: it compares false with everything.
    const double ratio = std::isnan(error) ? INFINITY : error == 0 ? 0 : error / allowed;
    if (ratio >= result.worst) {
      result.worst = ratio;
      result.tensor = name;
    }
  }
  result.ok = result.worst <= 1.0;
  if (!result.ok)
    result.message = fmt::format("'{}' differs by {:.3g} times the allowed error", result.tensor, result.worst);
  return result;
}

void carry_out_verify(const Json& request) {
  const double tolerance = request.value("tolerance", 1e-4);
  for (const auto& file : request.at("files")) {
    const auto path = file.get<std::string>();
    Verification result;
    try {
      result = verify_case(path, tolerance);
    } catch (const c10::Error& error) {
      result.message = error.what_without_backtrace();
    } catch (const std::exception& error) {
      result.message = error.what();
    }
    // JSON has no infinity: a NaN in our tensors is reported as null.
    send_event("verified", {{"file", path},
                            {"mixer", result.mixer},
                            {"ok", result.ok},
                            {"worst", std::isfinite(result.worst) ? Json(result.worst) : Json()},
                            {"tensor", result.tensor},
                            {"message", result.message}});
  }
  send_event("finished");
}

}  // namespace mneme::worker
