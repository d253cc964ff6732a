#include "core/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

constexpr std::size_t kErrorTail = 8192;
constexpr std::size_t kReadAtOnce = 1 << 20;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(ErrorKind::io, "pipe", std::strerror(errno));
    read = above_standard(ends[0]);
    write = above_standard(ends[1]);
  }

  // If our own standard streams are closed, a pipe would take their numbers and dup2 would step on it.
  static int above_standard(int descriptor) {
    if (descriptor > 2) return descriptor;
    const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (moved < 0) throw Error(ErrorKind::io, "pipe", std::strerror(errno));
    ::close(descriptor);
    return moved;
  }
};

void close_quietly(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

int decode_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Waits for the end of a child and returns its exit code.
int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return decode_status(status);
}

struct Child {
  pid_t pid;
  int input, output, error;
};

// fork and exec; a failed exec is reported through a pipe that closes itself on success.
Child spawn(const LineProcess::Options& options) {
  require(!options.argv.empty(), "a program to start");
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<char*> argv;
  for (const auto& argument : options.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Pipe input, output, error, failure;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(ErrorKind::io, options.argv[0], fmt::format("cannot fork: {}", std::strerror(errno)));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    if (options.own_group) ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(input.read, 0);
    ::dup2(output.write, 1);
    ::dup2(error.write, 2);
    for (const auto& variable : options.environment) ::putenv(const_cast<char*>(variable.c_str()));
    ::execvp(argv[0], argv.data());
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure.write, &code, sizeof code);
    ::_exit(127);
  }
  ::close(input.read);
  ::close(output.write);
  ::close(error.write);
  ::close(failure.write);
  int code = 0;
  ssize_t count;
  do {
    count = ::read(failure.read, &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  ::close(failure.read);
  if (count > 0) {
    reap(pid);
    for (int descriptor : {input.write, output.read, error.read}) ::close(descriptor);
    throw Error(ErrorKind::io, options.argv[0], fmt::format("cannot start: {}", std::strerror(code)));
  }
  return {pid, input.write, output.read, error.read};
}

// Appends what can be read now, about kReadAtOnce at most, since a child may write as fast as we read; false at
// the end of the stream.
bool drain(int descriptor, std::string& into) {
  std::array<char, 65536> block;
  const std::size_t enough = into.size() + kReadAtOnce;
  while (into.size() < enough) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0) {
      into.append(block.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count == 0) return false;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK;
  }
  return true;
}

void set_nonblocking(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, std::string_view input) {
  Child child = spawn({.argv = argv, .environment = {}, .own_group = false});
  for (int descriptor : {child.input, child.output, child.error}) set_nonblocking(descriptor);
  ProcessResult result;
  if (input.empty()) close_quietly(child.input);
  while (child.output >= 0 || child.error >= 0) {
    std::array<pollfd, 3> polls{pollfd{child.output, POLLIN, 0}, pollfd{child.error, POLLIN, 0},
                                pollfd{child.input, POLLOUT, 0}};
    if (::poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR)
      throw Error(ErrorKind::io, argv[0], fmt::format("poll: {}", std::strerror(errno)));
    if (polls[0].revents && !drain(child.output, result.out)) close_quietly(child.output);
    if (polls[1].revents && !drain(child.error, result.err)) close_quietly(child.error);
    if (child.input >= 0 && polls[2].revents) {
      const ssize_t count = ::write(child.input, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) close_quietly(child.input);
    }
  }
  close_quietly(child.input);
  result.exit_code = reap(child.pid);
  return result;
}

bool program_exists(const std::string& program) {
  const auto executable = [](const std::filesystem::path& file) {
    std::error_code ignored;
    return ::access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ignored);
  };
  if (program.find('/') != program.npos) return executable(program);
  const char* path = std::getenv("PATH");
  for (const auto& directory : split(path ? path : "", ':'))
    if (executable(std::filesystem::path(directory) / program)) return true;
  return false;
}

LineProcess::LineProcess(const Options& options) {
  const Child child = spawn(options);
  pid_ = child.pid;
  own_group_ = options.own_group;
  input_ = child.input;
  output_ = child.output;
  error_ = child.error;
  set_nonblocking(output_);
  set_nonblocking(error_);
}

LineProcess::~LineProcess() {
  close_quietly(input_);
  close_quietly(output_);
  close_quietly(error_);
  if (exit_code_) return;
  ::kill(pid_, SIGKILL);
  reap(pid_);
}

bool LineProcess::send(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(input_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void LineProcess::receive_error() {
  if (error_ < 0) return;
  if (!drain(error_, error_tail_)) close_quietly(error_);
  if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
}

std::vector<std::string> LineProcess::receive() {
  receive_error();
  if (output_ >= 0 && !drain(output_, partial_)) close_quietly(output_);
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t end; (end = partial_.find('\n', start)) != partial_.npos; start = end + 1)
    lines.push_back(partial_.substr(start, end - start));
  partial_.erase(0, start);
  return lines;
}

void LineProcess::signal(int number) const {
  if (!exit_code_) ::kill(pid_, number);
}

void LineProcess::kill_group() const {
  if (!exit_code_) ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
}

void LineProcess::close_input() { close_quietly(input_); }

std::optional<int> LineProcess::exit_code() {
  if (exit_code_ || output_ >= 0) return exit_code_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = decode_status(status);
    receive_error();  // the last words may have come after the last receive()
  }
  return exit_code_;
}

}  // namespace mneme
