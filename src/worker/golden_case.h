// A golden case as tensors, and the model that it describes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/files.h"
#include "core/json.h"
#include "models/backbone.h"
#include "models/sequence_model.h"
#include "ops/torch.h"

namespace mneme::worker {

struct GoldenCase {
  std::string mixer;
  Json config;
  std::map<std::string, torch::Tensor> tensors;

  static GoldenCase load(const Path& path);
  const torch::Tensor& at(const std::string& name) const;  // throws Error(data)
  bool has(const std::string& name) const { return tensors.contains(name); }

 private:
  std::string path_;
};

// A module with parameters named as in the file, and a function from the case's input to its outputs.
struct GoldenModel {
  std::shared_ptr<torch::nn::Module> module;
  // Runs forward and backward; returns output, grad_input or loss by their names in the file.
  std::function<std::map<std::string, torch::Tensor>(const GoldenCase&)> run;
};

GoldenModel build_golden_model(const GoldenCase& golden);

}  // namespace mneme::worker
