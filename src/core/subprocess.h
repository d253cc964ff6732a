// Starting and talking to other programs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

struct ProcessResult {
  int exit_code = 0;  // 128 + signal if it was killed
  std::string out;
  std::string err;
};

// Runs a program to its end. Throws Error(io) if it cannot be started; a non-zero exit is a result.
ProcessResult run_process(const std::vector<std::string>& argv, std::string_view input = {});

// True if `program` is found on PATH (or is itself an executable path).
bool program_exists(const std::string& program);

// A long-lived child that speaks lines: requests go to its standard input, events come from its
// standard output. Its standard error is kept (the last 8 KiB) for the report of a death.
// The child gets SIGTERM when the thread that started it ends (so when the parent dies in any way), and is
// killed when the object is destroyed.
class LineProcess {
 public:
  struct Options {
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // "NAME=value", added to ours
    bool own_group = true;                 // a terminal's Ctrl-C reaches only the parent
  };

  explicit LineProcess(const Options& options);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // Sends one line; false if the child has closed its input (it died).
  bool send(std::string_view line);

  // The descriptors to poll for reading; -1 once the child has closed that stream.
  int output_descriptor() const { return output_; }
  int error_descriptor() const { return error_; }

  // Reads what is there (1 MiB at most) without blocking and returns the complete lines of standard output.
  std::vector<std::string> receive();

  void signal(int number) const;
  // Kills the child and, if it has a group of its own, what it started: they may hold its output open.
  void kill_group() const;
  void close_input();

  // The exit code (128 + signal if killed) once the child is gone and its output was read to the end.
  std::optional<int> exit_code();

  const std::string& error_tail() const { return error_tail_; }
  pid_t pid() const { return pid_; }

 private:
  void receive_error();

  pid_t pid_ = -1;
  bool own_group_ = false;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  std::string partial_;
  std::string error_tail_;
  std::optional<int> exit_code_;
};

}  // namespace mneme
