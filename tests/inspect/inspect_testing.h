// Models for tests of analyses.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "inspect/list.h"
#include "models/model_testing.h"

namespace mneme::testing {

// Sets a parameter of a subject's model, in place.
inline void set_parameter(const inspect::Subject& subject, const std::string& name, const torch::Tensor& value) {
  const auto parameters = subject.model().named_parameters();
  ASSERT_TRUE(parameters.contains(name)) << name;
  parameters[name].copy_(value.to(torch::kFloat64).expand_as(parameters[name]));
}

}  // namespace mneme::testing
