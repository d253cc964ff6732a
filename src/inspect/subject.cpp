#include "inspect/subject.h"

#include "core/error.h"
#include "core/text.h"
#include "models/initialise.h"
#include "ops/path.h"

namespace mneme::inspect {
namespace {

std::shared_ptr<models::SequenceModel> initial_model(const config::RunConfig& run) {
  auto model = models::build_model(run);
  models::initialise(*model, run, nn::Draw(static_cast<std::uint64_t>(run.train.integer("init_seed"))));
  return model;
}

}  // namespace

std::vector<std::int64_t> Examples::labelled(std::size_t example) const {
  std::vector<std::int64_t> positions;
  const std::vector<std::int32_t>& labels = examples[example].labels;
  for (std::int64_t t = 0; t < length(); ++t)
    if (labels.empty() || labels[static_cast<std::size_t>(t)] != tasks::kUnlabelled) positions.push_back(t);
  return positions;
}

Examples::Asked Examples::asked(std::size_t example, std::int64_t t) const {
  const auto at = [](const std::vector<std::int32_t>& list, std::int64_t i) {
    return list[static_cast<std::size_t>(i)];
  };
  if (sources[example].empty() || at(sources[example], t) < 0) return {};
  const std::vector<std::int32_t>& tokens = examples[example].tokens;
  const std::int64_t source = at(sources[example], t), label = at(examples[example].labels, t);
  // A pair is read off its key: the value follows it.
  if (at(tokens, source) == at(tokens, t) && source + 1 <= t && at(tokens, source + 1) == label)
    return {source + 1, source};
  return at(tokens, source) == label ? Asked{source, -1} : Asked{};
}

Subject::Subject(const config::RunConfig& run, std::shared_ptr<models::SequenceModel> model, std::int64_t step)
    : run_(run), task_(run.task_entry->build(run.task)), model_(std::move(model)), step_(step) {
  model_->to(torch::kFloat64);
  for (torch::Tensor& parameter : model_->parameters()) {
    parameter.mutable_grad() = torch::Tensor();
    parameter.requires_grad_(false);
  }
}

Subject::Subject(const config::RunConfig& run) : Subject(run, initial_model(run), 0) {}

void Subject::set_kept(std::vector<std::int64_t> steps, AtStep at_step) {
  kept_steps_ = std::move(steps);
  at_step_ = std::move(at_step);
}

Examples Subject::examples(std::int64_t count) const {
  const std::int64_t L = run_.shape.length;
  const tasks::ExampleSource source(*task_, static_cast<std::uint64_t>(run_.train.integer("data_seed")),
                                    tasks::Split::test);
  Examples result;
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    tasks::Example example(run_.shape);
    source.write(static_cast<std::uint64_t>(i), example.view());
    rows.push_back(run_.shape.is_signal() ? torch::tensor(at::ArrayRef<float>(example.signal)).to(torch::kFloat64)
                                          : torch::tensor(at::ArrayRef<std::int32_t>(example.tokens), torch::kInt32));
    result.roles.push_back(task_->roles(example.view()));
    result.sources.push_back(run_.shape.is_signal() ? std::vector<std::int32_t>() : task_->sources(example.view()));
    result.examples.push_back(std::move(example));
  }
  result.input = torch::stack(rows).view({count, L});
  return result;
}

torch::Tensor Subject::losses(const Examples& examples, const std::vector<std::int64_t>& rows,
                              const std::vector<std::int64_t>& at) const {
  require(rows.size() == at.size(), "one position a row");
  const ops::ScopedComposed composed;
  nn::Pass pass = nn::Pass::evaluation();
  const auto R = static_cast<std::int64_t>(rows.size());
  const torch::Tensor index = torch::tensor(rows), places = torch::tensor(at);
  const torch::Tensor h = model_->hidden(examples.input.index_select(0, index), pass);  // [R, L, D]
  const torch::Tensor out = model_->read_out(h.flatten(0, 1).index_select(0, torch::arange(R) * h.size(1) + places));
  if (run_.shape.is_signal()) {
    std::vector<double> targets;
    for (std::size_t r = 0; r < rows.size(); ++r)
      targets.push_back(examples.examples[static_cast<std::size_t>(rows[r])].targets[static_cast<std::size_t>(at[r])]);
    const torch::Tensor target = torch::tensor(targets, torch::kFloat64);
    if (run_.train.text("signal_loss") == "mse") return torch::mse_loss(out, target, torch::Reduction::None);
    return torch::binary_cross_entropy_with_logits(out, target, {}, {}, torch::Reduction::None);
  }
  std::vector<std::int64_t> labels;
  for (std::size_t r = 0; r < rows.size(); ++r)
    labels.push_back(examples.examples[static_cast<std::size_t>(rows[r])].labels[static_cast<std::size_t>(at[r])]);
  return torch::cross_entropy_loss(out, torch::tensor(labels), {}, torch::Reduction::None);
}

std::string Subject::name_of(const torch::nn::Module& module) const {
  for (const auto& item : model_->named_modules())
    if (item.value().get() == &module) return item.key();
  return "";
}

std::int64_t Subject::layer_of(const torch::nn::Module& module) const {
  // "backbone.layers.1.sequence_mixer"
  const std::vector<std::string> parts = split(name_of(module), '.');
  return parts.size() > 2 && parts[1] == "layers" ? std::stoll(parts[2]) : -1;
}

}  // namespace mneme::inspect
