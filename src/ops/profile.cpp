#include "ops/profile.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include <map>
#include <tuple>

#include "core/error.h"
#include "core/timing.h"

namespace mneme::ops {
namespace {

thread_local Profile::Watch* current = nullptr;

constexpr std::string_view kEngineCall = "autograd::engine::evaluate_function";

// "torch::autograd::CppNode<mneme::(anonymous namespace)::Wkv>" and "mneme::(anonymous namespace)::Wkv" are both Wkv.
std::string short_name(std::string_view name) {
  if (name.starts_with(kEngineCall)) return kEngine;
  if (name.find("mneme::") == name.npos) return std::string(name);
  name.remove_prefix(name.rfind("::") + 2);
  return std::string(name.substr(0, name.find('>')));
}

}  // namespace

class Profile::Watch {
 public:
  Watch() : frames_{{kRestPart, kOwnCode, false}}, changes_{{0, kRestPart}}, last_(now(Clock::thread)) {}

  void enter_part(std::string_view name) {
    charge();
    push({std::string(name), kOwnCode, false});
    changes_[at::sequence_number::peek()] = top().part;
    go_on();
  }

  void leave_part() {
    charge();
    frames_.pop_back();
    changes_[at::sequence_number::peek()] = top().part;
    go_on();
  }

  void enter_operation(const at::RecordFunction& function) {
    charge();
    Frame frame{top().part, short_name(function.name()), top().backward};
    if (frame.operation == kEngine) {
      frame.part = backward_part_;
      frame.backward = true;
    } else if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
      frame.backward = true;
      frame.part = backward_part_ = part_of_node(function.seqNr());
      if (top().operation == kEngine) top().part = frame.part;
    }
    push(std::move(frame));
    go_on();
  }

  void leave_operation() {
    charge();
    frames_.pop_back();
    go_on();
  }

  std::vector<ProfileCell> cells() {
    charge();
    std::vector<ProfileCell> list;
    for (const auto& [frame, spent] : spent_)
      list.push_back({frame.part, frame.operation, frame.backward, spent.seconds, spent.calls});
    go_on();
    return list;
  }

 private:
  struct Frame {
    std::string part, operation;
    bool backward;
    bool operator<(const Frame& other) const {
      return std::tie(part, operation, backward) < std::tie(other.part, other.operation, other.backward);
    }
  };
  struct Spent {
    double seconds = 0;
    std::int64_t calls = 0;
  };

  Frame& top() { return frames_.back(); }
  void charge() { spent_[top()].seconds += now(Clock::thread) - last_; }
  void go_on() { last_ = now(Clock::thread); }

  void push(Frame frame) {
    ++spent_[frame].calls;
    frames_.push_back(std::move(frame));
  }

  // Nodes are numbered as they are made. Those that add gradients to parameters have no place in that order, and run
  // right after the node whose gradient they add.
  std::string part_of_node(std::int64_t number) const {
    if (number < 0) return backward_part_;
    return std::prev(changes_.upper_bound(static_cast<std::uint64_t>(number)))->second;
  }

  std::vector<Frame> frames_;
  std::map<std::uint64_t, std::string> changes_;  // from this node's number on, nodes belong to that part
  std::string backward_part_ = kRestPart;
  std::map<Frame, Spent> spent_;
  double last_;
};

Profile::Profile() : watch_(std::make_unique<Watch>()) {
  require(current == nullptr, "one profile at a time");
  current = watch_.get();
  const auto start = [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    current->enter_operation(function);
    return nullptr;
  };
  const auto end = [](const at::RecordFunction&, at::ObserverContext*) { current->leave_operation(); };
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

Profile::~Profile() {
  at::removeCallback(handle_);
  current = nullptr;
}

std::vector<ProfileCell> Profile::cells() const { return watch_->cells(); }

Part::Part(std::string_view name) : watch_(current) {
  if (watch_) watch_->enter_part(name);
}

Part::~Part() {
  if (watch_) watch_->leave_part();
}

}  // namespace mneme::ops
