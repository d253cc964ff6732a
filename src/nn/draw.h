// Initial values as a function of (seed, parameter name, element): the order in which a model is built
// does not matter, and adding a parameter changes no other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "ops/torch.h"

namespace mneme::nn {

class Draw {
 public:
  explicit Draw(std::uint64_t init_seed);

  // Fill `parameter`, known by its full name in the model.
  void normal(torch::Tensor parameter, const std::string& name, double deviation) const;
  void uniform(torch::Tensor parameter, const std::string& name, double bound) const;  // in [-bound, bound)
  void constant(torch::Tensor parameter, double value) const;
  // A seed for a foreign generator, at the place of this name.
  std::uint64_t seed(const std::string& name) const;
  // Any other rule: next(random, i) is the value of element i; it may draw as many numbers as it likes.
  void values(torch::Tensor parameter, const std::string& name,
              const std::function<double(Random&, std::int64_t)>& next) const;

 private:
  std::uint64_t key_;
};

// A module whose parameters have an initialisation of their own, under every scheme.
class SelfInitialised {
 public:
  virtual ~SelfInitialised() = default;
  // `prefix` is the module's full name followed by a dot.
  virtual void initialise(const Draw& draw, const std::string& prefix) = 0;
};

struct NamedLinear {
  std::string prefix;  // "attend."
  torch::Tensor weight, bias;
};

// A module that draws its initial values with a generator of its own (Python's torch), or leaves its linear layers to
// the model's scheme, as its user likes.
class ModuleInitialised : public SelfInitialised {
 public:
  virtual bool is_initialised_by_model() const = 0;
  virtual std::vector<NamedLinear> linears() const = 0;
};

}  // namespace mneme::nn
