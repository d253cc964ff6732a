#include "train/parameters.h"

#include <cmath>

#include "core/hash.h"
#include "kernels/dense/adamw.h"

namespace mneme::train {

FlatParameters::FlatParameters(torch::nn::Module& model, torch::Device device) {
  std::int64_t total = 0;
  const auto named = model.named_parameters();
  for (const auto& item : named) {
    segments_.push_back({item.key(), total, item.value().numel(), item.value().sizes().vec()});
    total += item.value().numel();
  }
  values = torch::zeros({total}, device);
  gradients = torch::zeros({total}, device);
  const torch::NoGradGuard guard;
  for (torch::Tensor& buffer : model.buffers()) buffer.set_data(buffer.to(device));
  for (const Segment& segment : segments_) {
    torch::Tensor parameter = named[segment.name];
    const torch::Tensor place = values.narrow(0, segment.offset, segment.size).view(segment.shape);
    place.copy_(parameter);
    parameter.set_data(place);
    parameter.mutable_grad() = gradients.narrow(0, segment.offset, segment.size).view(segment.shape);
  }
}

double euclidean_norm(const torch::Tensor& flat) {
  if (!flat.is_cpu()) return flat.norm().item<double>();
  return std::sqrt(kernels::sum_of_squares(flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())));
}

double FlatParameters::norm() const { return euclidean_norm(values); }

std::string FlatParameters::hash() const {
  Sha256 hash;
  const torch::Tensor host = values.cpu();
  for (const Segment& segment : segments_) {
    hash.update(segment.name);
    const float* start = host.data_ptr<float>() + segment.offset;
    hash.update(std::as_bytes(std::span(start, static_cast<std::size_t>(segment.size))));
  }
  return hash.hex();
}

}  // namespace mneme::train
