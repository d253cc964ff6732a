// All parameters of a model in one flat buffer, and their gradients in another.
//
// The model's tensors become views, so the optimiser, the gradient norm and the checkpoint each make one
// pass over contiguous memory, and clearing the gradients is one fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/torch.h"

namespace mneme::train {

class FlatParameters {
 public:
  struct Segment {
    std::string name;
    std::int64_t offset, size;
    std::vector<std::int64_t> shape;
  };

  // Moves the model's parameters into a buffer on the device (values kept), and its buffers there too. The model must
  // outlive this.
  explicit FlatParameters(torch::nn::Module& model, torch::Device device = torch::kCPU);

  const std::vector<Segment>& segments() const { return segments_; }
  torch::Tensor values;     // [n]
  torch::Tensor gradients;  // [n]
  std::int64_t size() const { return values.numel(); }

  // The Euclidean norm of all values.
  double norm() const;
  // SHA-256 over the values in the order of the names.
  std::string hash() const;

 private:
  std::vector<Segment> segments_;
};

// Of a contiguous tensor, on any device.
double euclidean_norm(const torch::Tensor& flat);

}  // namespace mneme::train
