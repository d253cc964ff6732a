// What an Error says, for tests of messages.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/error.h"

namespace mneme::testing {

// The message of the Error that `action` throws; a failure of the test if it throws none or of another kind.
template <typename Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace mneme::testing
