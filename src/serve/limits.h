// What a client may use of the server (docs/serve.md has them as a table).
#pragma once

#include <chrono>
#include <cstddef>

namespace mneme::serve {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

// From the first byte of a request to its last; until a connection's next request; for taking an answer.
inline constexpr auto kRequestPatience = 10s;
inline constexpr auto kIdlePatience = 60s;
inline constexpr auto kWritePatience = 30s;
inline constexpr auto kDrainPatience = 2s;

inline constexpr std::size_t kMostConnections = 768;
inline constexpr std::size_t kMostListeners = 64;  // that follow the events
// Events that a listener may fall behind.
inline constexpr std::size_t kMostEventsBehind = 64;
// Reads of what a client still sends after its last answer.
inline constexpr int kMostDrained = 16;
inline constexpr auto kHeartbeat = 15s;

// An answer serves everyone who asks for the same until the lab changes, and at most this long.
inline constexpr auto kKeepAnswer = 1000ms;
inline constexpr std::size_t kMostKeptAnswers = 64;

}  // namespace mneme::serve
