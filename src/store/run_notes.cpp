#include "store/run_notes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/text.h"

namespace mneme::store {
namespace {

constexpr std::size_t kLongestTag = 40, kLongestNote = 2000;

Path notes_file(const RunDirectory& directory) { return directory.path() / "notes.json"; }

// Held until it is destroyed. The directory itself, not `lock`: a worker that writes its metrics need not wait.
std::shared_ptr<void> lock_notes(const RunDirectory& directory) {
  const int file = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0 || ::flock(file, LOCK_EX) != 0) {
    if (file >= 0) ::close(file);
    throw Error(ErrorKind::io, directory.path().string(), "cannot lock the run's directory");
  }
  return {nullptr, [file](void*) { ::close(file); }};
}

}  // namespace

RunNotes read_notes(const RunDirectory& directory) {
  const Path file = notes_file(directory);
  if (!std::filesystem::exists(file)) return {};
  const Json json = parse_json(read_file(file), file.string());
  try {
    RunNotes notes{json.at("tags").get<std::vector<std::string>>(), json.at("note").get<std::string>()};
    for (const std::string& tag : notes.tags) check_tag(tag);
    std::sort(notes.tags.begin(), notes.tags.end());
    return notes;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::data, file.string(), fmt::format("damaged: {}", error.what()));
  }
}

void change_notes(const RunDirectory& directory, const std::function<void(RunNotes&)>& change) {
  const auto held = lock_notes(directory);
  RunNotes notes = read_notes(directory);
  change(notes);
  for (const std::string& tag : notes.tags) check_tag(tag);
  check_note(notes.note);
  std::sort(notes.tags.begin(), notes.tags.end());
  notes.tags.erase(std::unique(notes.tags.begin(), notes.tags.end()), notes.tags.end());
  if (!notes.empty())
    write_file_atomically(notes_file(directory), Json{{"tags", notes.tags}, {"note", notes.note}}.dump() + "\n");
  else if (std::filesystem::exists(notes_file(directory)))
    file_system().remove(notes_file(directory));
}

void check_tag(std::string_view tag) {
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const bool letters = tag.find_first_not_of(std::string(kLetters) + "._-") == tag.npos;
  if (tag.empty() || tag.size() > kLongestTag || !letters || std::string_view("._-").find(tag[0]) != tag.npos)
    throw Error(ErrorKind::usage, "tag",
                fmt::format("got '{}', expected up to {} letters, digits and . _ -, the first a letter or digit",
                            shortened(tag, 60), kLongestTag));
}

void check_note(std::string_view note) {
  const bool plain = std::none_of(note.begin(), note.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) < 0x20 && byte != '\n') || byte == 0x7f;
  });
  if (note.size() > kLongestNote || !is_utf8(note) || !plain)
    throw Error(ErrorKind::usage, "note",
                fmt::format("got {} bytes, expected at most {} of UTF-8 without control characters", note.size(),
                            grouped(kLongestNote)));
}

}  // namespace mneme::store
