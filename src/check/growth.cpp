// How memory and time grow with the length.
#include <fmt/format.h>

#include <time.h>

#include <cmath>
#include <set>
#include <vector>

#include "check/check.h"
#include "check/tensor_memory.h"

namespace mneme::check {
namespace {

void forward_and_backward(mixers::Mixer& mixer, const torch::Tensor& x) {
  torch::Tensor input = x.detach().requires_grad_(true);
  evaluate_with_gradient(mixer, input).sum().backward();
  for (auto& parameter : mixer.parameters()) parameter.mutable_grad() = torch::Tensor();
}

// The mixer's own start: with arbitrary values some mixers overflow over thousands of tokens, and
// denormal numbers are slow.
mixers::MixerPointer at_its_start(const Subject& subject, std::int64_t length) {
  mixers::MixerPointer mixer = subject.build(subject.context(length), subject.options);
  const nn::Draw draw(1);
  for (const auto& module : mixer->named_modules()) {
    if (auto* own = dynamic_cast<nn::SelfInitialised*>(module.value().get()))
      own->initialise(draw, module.key().empty() ? "" : module.key() + ".");
  }
  return mixer;
}

std::int64_t peak_bytes(const Subject& subject, std::int64_t length) {
  const mixers::MixerPointer mixer = at_its_start(subject, length);
  const torch::Tensor x = sample({1, length, subject.width}, 43);
  return peak_tensor_memory([&] { forward_and_backward(*mixer, x); });
}

// CPU time of this thread, so that waiting for other work does not count.
double seconds(mixers::Mixer& mixer, const torch::Tensor& x) {
  const auto now = [] {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  };
  const double start = now();
  forward_and_backward(mixer, x);
  return now() - start;
}

// Forward and backward at one length, timed in turns with others; the quickest turn counts, because other work on the
// machine only ever adds time.
class Stopwatch {
 public:
  Stopwatch(const Subject& subject, std::int64_t length)
      : length_(length), mixer_(at_its_start(subject, length)), x_(sample({4, length, subject.width}, 47)) {}

  void turn() { quickest_ = std::min(quickest_, seconds(*mixer_, x_)); }
  double quickest() const { return quickest_; }
  std::int64_t length() const { return length_; }

 private:
  std::int64_t length_;
  mixers::MixerPointer mixer_;
  torch::Tensor x_;
  double quickest_ = INFINITY;
};

// Wide enough that the short sequence does not live in the first-level cache, which would flatter it.
Subject widened(Subject subject) {
  constexpr std::int64_t kLeast = 64;
  subject.width *= (kLeast + subject.width - 1) / subject.width;
  return subject;
}

bool state_grows(const Subject& subject) {
  return subject.entry->state(subject.context(4096), subject.options) >
         subject.entry->state(subject.context(512), subject.options);
}

// A Python mixer without a step, or whose state grows, says nothing about its cost.
bool promises_nothing(const Subject& subject) {
  return subject.entry->python &&
         (subject.entry->state(subject.context(16), subject.options) == 0 || state_grows(subject));
}

// Where no state of constant size is declared, a number is shown and nobody is reassured.
Finding not_judged(const Subject& subject, const std::string& found) {
  const char* why = state_grows(subject) ? "the state grows with the length"
                                         : "without initial_state and step the module declares no constant-size state";
  return {Finding::Verdict::not_applicable, fmt::format("not judged, because {}: {}", why, found)};
}

}  // namespace

Finding check_memory(const Subject& subject) {
  // Seeing the whole sequence at once is what composed operations are allowed to pay for.
  if (!subject.entry->causal(subject.options))
    return {Finding::Verdict::not_applicable,
            "not checked: these options look ahead, and no kernel keeps their memory linear"};
  constexpr std::int64_t kShort = 256, kLong = 2048;
  // What does not grow with the length (parameters, their gradients) only lowers the ratio.
  constexpr double kSlack = 1.05;
  const auto small = static_cast<double>(peak_bytes(subject, kShort)),
             large = static_cast<double>(peak_bytes(subject, kLong));
  const double ratio = large / small, allowed = kSlack * kLong / kShort;
  const std::string found = fmt::format("{:.0f} KiB at L = {}, {:.0f} KiB at L = {}: {:.2f}x for {}x the length",
                                        small / 1024, kShort, large / 1024, kLong, ratio, kLong / kShort);
  if (ratio > allowed && promises_nothing(subject)) return not_judged(subject, found);
  return Finding::passed_if(ratio <= allowed, found);
}

namespace {

// The limit of counted work and of time. Linear kernels measure as L^0.9 to L^1.15.
constexpr double kMost = 1.25;

double exponent_of(double ratio, std::int64_t brief, std::int64_t longer) {
  return std::log(ratio) / std::log(static_cast<double>(longer) / static_cast<double>(brief));
}

// What forward and backward write, counted: no clock, the same number at every load.
Finding check_written(const Subject& subject) {
  constexpr std::int64_t kShort = 128, kLong = 512;
  const auto bytes = [&](std::int64_t length) {
    const mixers::MixerPointer mixer = at_its_start(subject, length);
    const torch::Tensor x = sample({1, length, subject.width}, 43);
    return static_cast<double>(total_tensor_memory([&] { forward_and_backward(*mixer, x); }));
  };
  const double small = bytes(kShort), large = bytes(kLong), exponent = exponent_of(large / small, kShort, kLong);
  return Finding::passed_if(
      exponent <= kMost,
      fmt::format("writes L^{:.2f}: {:.1f} MiB of tensors at L = {}, {:.1f} MiB at L = {}. If it loops over tokens: "
                  "select and slices of the input make the backward pass write a whole sequence for every token; take "
                  "the tokens apart once, with unbind(1)",
                  exponent, small / 1048576, kShort, large / 1048576, kLong));
}

// Operations that the backward pass will walk through.
std::size_t count_operations(const Subject& subject, std::int64_t length) {
  const mixers::MixerPointer mixer = at_its_start(subject, length);
  const torch::Tensor y = evaluate(*mixer, sample({1, length, subject.width}, 43).requires_grad_(true));
  std::set<torch::autograd::Node*> seen;
  std::vector<torch::autograd::Node*> open{y.grad_fn().get()};
  while (!open.empty()) {
    torch::autograd::Node* node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return seen.size();
}

// A loop over tokens that is composed of libtorch's operations. What each of them writes is counted, so nothing is
// hidden from the first judge; and its time says more about memory being found and given back than about its work: a
// loop whose counted work is linear has measured as L^1.56.
bool is_composed_loop(const Subject& subject) {
  return count_operations(subject, 128) > 2 * count_operations(subject, 32);
}

enum class TimeIs { judged, shown };

Finding check_time(const Subject& subject, TimeIs time, const char* remark) {
  constexpr int kTurns = 5;
  // A mixer without kernels would keep a person waiting at the full length.
  constexpr double kPatience = 0.25;
  const Subject wide = widened(subject);
  Stopwatch brief(wide, 512);
  brief.turn();
  Stopwatch longer(wide, brief.quickest() > kPatience ? 1024 : 4096);
  for (int turn = 0; turn < kTurns; ++turn) {
    brief.turn();
    longer.turn();
  }
  const double ratio = longer.quickest() / brief.quickest();
  const double exponent = exponent_of(ratio, brief.length(), longer.length());
  return Finding::passed_if(
      time == TimeIs::shown || exponent <= kMost,
      fmt::format("L^{:.2f}: {:.1f} ms at L = {}, {:.1f}x at L = {}, width {}{}", exponent, 1e3 * brief.quickest(),
                  brief.length(), ratio, longer.length(), wide.width, remark));
}

}  // namespace

Finding check_cost(const Subject& subject) {
  // Flat cost per token is promised by a state that does not grow.
  const bool promised = !state_grows(subject) && !promises_nothing(subject);
  if (promised)
    if (Finding written = check_written(subject); written.verdict == Finding::Verdict::failed) return written;
  if (!promised) return not_judged(subject, check_time(subject, TimeIs::shown, "").detail);
  if (is_composed_loop(subject))
    return check_time(subject, TimeIs::shown, " (a loop over tokens, judged by what it writes)");
  Finding finding = check_time(subject, TimeIs::judged, "");
  // Caches and clocks that others disturb only ever make it look worse: one good measurement is a proof.
  for (int again = 0; again < 2 && finding.verdict == Finding::Verdict::failed; ++again)
    finding = check_time(subject, TimeIs::judged, "");
  return finding;
}

}  // namespace mneme::check
