// The recurrent form: step against forward, the state it carries; and the parameters through a file.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "check/check.h"
#include "core/safetensors.h"

namespace mneme::check {
namespace {

constexpr std::int64_t kTokens = 9;
constexpr std::int64_t kBatch = 2;

// Why a mixer without a step may lack one.
Finding no_step(const Subject& subject) {
  if (subject.entry->python)
    return {Finding::Verdict::not_applicable,
            "not checked: the class has no step(state, x) and initial_state(batch), which are optional"};
  if (subject.entry->causal(subject.options)) return {Finding::Verdict::failed, "a causal mixer must have a step"};
  return {Finding::Verdict::not_applicable, "not checked: these options look ahead, so there is no recurrent form"};
}

// A file of our own in the temporary directory, gone with this object.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() / fmt::format("mneme-check-{}.safetensors", ::getpid())) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
};

}  // namespace

Finding check_step(const Subject& subject) {
  const torch::NoGradGuard guard;
  const mixers::MixerPointer mixer = subject.make(kTokens);
  if (!mixer->has_step()) return no_step(subject);
  const torch::Tensor x = sample({kBatch, kTokens, subject.width}, 31);
  const torch::Tensor whole = evaluate(*mixer, x);
  // Products of matrices grow: rounding is measured by the largest value.
  const double tolerance = 1e-5 * std::max(1.0, largest(whole));
  double worst = 0;
  mixers::MixerState state = mixer->initial_state(kBatch);
  for (std::int64_t t = 0; t < kTokens; ++t)
    worst = std::max(worst, largest(mixer->step(state, x.select(1, t)) - whole.select(1, t)));
  return Finding::passed_if(worst <= tolerance, fmt::format("{} tokens, worst difference {:.1e} (allowed {:.1e})",
                                                            kTokens, worst, tolerance));
}

Finding check_state(const Subject& subject) {
  const torch::NoGradGuard guard;
  std::string sizes;
  for (const std::int64_t length : {kTokens, 2 * kTokens}) {
    const mixers::MixerPointer mixer = subject.make(length);
    if (!mixer->has_step()) return no_step(subject);
    mixers::MixerState state = mixer->initial_state(kBatch);
    const torch::Tensor x = sample({kBatch, length, subject.width}, 37);
    for (std::int64_t t = 0; t < length; ++t) mixer->step(state, x.select(1, t));
    const std::int64_t declared = subject.entry->state(subject.context(length), subject.options);
    if (state.size() != declared)
      return {Finding::Verdict::failed,
              fmt::format("{} numbers in the state after {} tokens, {} declared", state.size(), length, declared)};
    sizes += fmt::format("{}{} after {} tokens", sizes.empty() ? "" : ", ", declared, length);
  }
  return Finding::passed_if(true, sizes);
}

Finding check_file(const Subject& subject) {
  const torch::NoGradGuard guard;
  const mixers::MixerPointer original = subject.make(kTokens);
  const torch::Tensor x = sample({kBatch, kTokens, subject.width}, 41);
  const TemporaryFile file;
  std::map<std::string, TensorView> views;
  for (const auto& item : original->named_parameters()) {
    const torch::Tensor& value = item.value();
    if (!value.is_contiguous())
      return {Finding::Verdict::failed, fmt::format("parameter '{}' is not contiguous", item.key())};
    views[item.key()] = {"F32", value.sizes().vec(), {static_cast<const std::byte*>(value.data_ptr()), value.nbytes()}};
  }
  save_safetensors(file.path(), views, {{"mixer", subject.entry->name}});

  const Safetensors stored = Safetensors::load(file.path());
  const mixers::MixerPointer copy = subject.build(subject.context(kTokens), subject.options);
  std::size_t read = 0;
  for (const auto& item : copy->named_parameters()) {
    const auto found = stored.tensors().find(item.key());
    if (found == stored.tensors().end())
      return {Finding::Verdict::failed, fmt::format("'{}' is not in the file", item.key())};
    std::memcpy(item.value().data_ptr(), found->second.bytes.data(), found->second.bytes.size());
    ++read;
  }
  const bool equal = read == views.size() && torch::equal(evaluate(*original, x), evaluate(*copy, x));
  return Finding::passed_if(equal, fmt::format("{} tensors, outputs {}", read, equal ? "equal to the bit" : "differ"));
}

}  // namespace mneme::check
