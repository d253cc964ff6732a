#include "nn/draw.h"

#include "core/random.h"

namespace mneme::nn {
namespace {

template <class Next>
void fill(torch::Tensor parameter, Next next) {
  const torch::NoGradGuard guard;
  torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat32);
  float* out = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) out[i] = static_cast<float>(next());
  parameter.copy_(values);
}

}  // namespace

Draw::Draw(std::uint64_t init_seed) : key_(stream_key(init_seed, "init")) {}

void Draw::normal(torch::Tensor parameter, const std::string& name, double deviation) const {
  Random random(key_, name_hash(name));
  fill(std::move(parameter), [&] { return deviation * random.normal(); });
}

void Draw::uniform(torch::Tensor parameter, const std::string& name, double bound) const {
  Random random(key_, name_hash(name));
  fill(std::move(parameter), [&] { return bound * (2.0 * random.uniform() - 1.0); });
}

void Draw::values(torch::Tensor parameter, const std::string& name,
                  const std::function<double(Random&, std::int64_t)>& next) const {
  Random random(key_, name_hash(name));
  std::int64_t i = 0;
  fill(std::move(parameter), [&] { return next(random, i++); });
}

std::uint64_t Draw::seed(const std::string& name) const { return Random(key_, name_hash(name)).bits64(); }

void Draw::constant(torch::Tensor parameter, double value) const {
  const torch::NoGradGuard guard;
  parameter.fill_(value);
}

}  // namespace mneme::nn
