// Replacing a file in one step, with a last check before the new content counts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/files.h"

namespace mneme {

// Called when the new bytes are safe on the disk and only renames are left. What it returns is held until they
// are durable; to refuse, it throws, and nothing has changed.
using CommitGate = std::function<std::shared_ptr<void>()>;

struct Commit {
  CommitGate gate = {};  // empty: always allowed
  Path previous = {};    // where the content that is replaced goes; empty: it is gone
};

// write_file_atomically (core/files.h) with a gate and a previous generation. With `previous`, a crash between
// the two renames leaves the old content there and no file at `path`: readers look at both.
void commit_file(const Path& path, const std::vector<std::span<const std::byte>>& pieces, const Commit& commit);
void commit_file(const Path& path, std::string_view text, const Commit& commit);

// Removes the temporaries that crashed writers left in a directory.
void remove_temporaries(const Path& directory);

}  // namespace mneme
