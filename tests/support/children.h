// The same work in several processes at once.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <vector>

namespace mneme::testing {

// Calls work(0), work(1), ... in a child process each and waits for all. An exception is printed and fails the test.
inline void in_children(int processes, const std::function<void(int)>& work) {
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int code = 0;
    try {
      work(process);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      code = 1;
    }
    ::_exit(code);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace mneme::testing
