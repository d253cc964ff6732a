// What people say about a run: tags and a note, in notes.json of its directory.
//
// They are no part of the run: neither its id nor its results depend on them, and no attempt owns them. A run that is
// copied takes them along.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/run_directory.h"

namespace mneme::store {

struct RunNotes {
  std::vector<std::string> tags;  // sorted, each once
  std::string note;

  bool empty() const { return tags.empty() && note.empty(); }
};

// Nothing if there is no file. Throws Error(data) if it is damaged.
RunNotes read_notes(const RunDirectory& directory);

// Reads, changes and writes them while no other process can. Throws Error(io) or Error(data).
void change_notes(const RunDirectory& directory, const std::function<void(RunNotes&)>& change);

// Throws Error(usage) unless it has 1 to 40 letters, digits and . _ - only, the first a letter or digit.
void check_tag(std::string_view tag);
// Throws Error(usage) unless it is UTF-8 without control characters (lines may end) and has at most 2,000 bytes.
void check_note(std::string_view note);

}  // namespace mneme::store
