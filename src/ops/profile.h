// Where the time of training goes: by part of the model and operation.
//
// Parts are marked where they begin (Part); operations are those that libtorch reports, ours among them (Operation).
// Every moment is counted once, for the innermost operation of the innermost part. A backward operation belongs to the
// part in which its forward one was made. Nothing in the graph changes, so results are the same to the bit with and
// without a profile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::ops {

// What is in no part, and what is in no operation: plain C++, kernels that are called directly.
inline constexpr const char* kRestPart = "rest";
inline constexpr const char* kOwnCode = "own code";
// Finding the next backward operation, adding gradients up.
inline constexpr const char* kEngine = "autograd engine";

struct ProfileCell {
  std::string part, operation;
  bool backward = false;
  double seconds = 0;  // of this thread on a processor, without what measuring takes
  std::int64_t calls = 0;
};

// Watches the thread that makes it, from then on; one at a time.
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  std::vector<ProfileCell> cells() const;

  class Watch;

 private:
  std::unique_ptr<Watch> watch_;
  std::uint64_t handle_;
};

// The part of the model that runs while this lives; does nothing without a profile.
class Part {
 public:
  explicit Part(std::string_view name);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  Profile::Watch* watch_;
};

}  // namespace mneme::ops
