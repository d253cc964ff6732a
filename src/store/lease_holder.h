// Who holds a lease: the name of a process.
#pragma once

#include <string>
#include <string_view>

namespace mneme::store {

// "host/boot/pid/start" of this process: unique, and its own machine can tell whether it is still running.
std::string our_holder();
// Our holder and a count: a name that nothing else has, here or on another machine.
std::string unique_name();
// True if the holder was a process of this machine and has ended.
bool is_gone(std::string_view holder);
// "pid 123 on host".
std::string describe_holder(std::string_view holder);

}  // namespace mneme::store
