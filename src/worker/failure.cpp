#include "worker/failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <typeinfo>

namespace mneme::worker {
namespace {

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

Json Failure::fields() const {
  Json fields = {{"kind", static_cast<int>(kind)}, {"message", message}};
  if (shortage != Shortage::none) fields["shortage"] = shortage_name(shortage);
  return fields;
}

Failure failure_of(const std::exception& error) {
  const Shortage shortage = shortage_of(error);
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return {ours->kind(), ours->what(), shortage};
  if (dynamic_cast<const Json::exception*>(&error))
    return {ErrorKind::usage, fmt::format("[request] {}", error.what())};
  if (shortage == Shortage::memory) return {ErrorKind::runs_failed, std::string(kOutOfMemory), shortage};
  std::string what = first_line(error.what());
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error)) what = first_line(torch->what_without_backtrace());
  // libtorch carries what a Python function raised in the backward pass as a type of its own.
  if (std::string_view(typeid(error).name()).find("python_error") != std::string_view::npos)
    return {ErrorKind::runs_failed, "an exception in the backward pass of a Python function: " + what};
  // libtorch has no type of its own for this.
  const auto memory = what.find("allocate memory");
  if (memory == what.npos) return {ErrorKind::internal, what};
  // "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate N bytes."
  const auto tried = what.find("you tried", memory);
  return {ErrorKind::runs_failed,
          tried == what.npos ? std::string(kOutOfMemory) : fmt::format("{}: {}", kOutOfMemory, what.substr(tried)),
          Shortage::memory};
}

}  // namespace mneme::worker
