#include "core/files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>

#include "support/expect_error.h"
#include "support/faulty_file_system.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using testing::error_of;
using testing::Fault;
using testing::FaultyFileSystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Survives;
using testing::TemporaryDirectory;

constexpr std::string_view kOld = "what was there before";
constexpr std::string_view kNew = "the new content, which is longer than the old";

using Writer = std::function<void(const Path& path, std::string_view text)>;

struct Findings {
  std::vector<std::string> problems;
  int points = 0;  // faults that struck
};

std::optional<std::string> content_of(const Path& path) {
  if (!std::filesystem::exists(path)) return {};
  return read_file(path);
}

// One attempt to replace `before` with kNew on a disk that fails at one call; false if the call was never reached.
bool attempt(const Writer& writer, std::optional<std::string> before, Fault fault, int call, Survives survives,
             Findings& findings) {
  const TemporaryDirectory directory;
  const Path path = directory / "file";
  if (before) std::ofstream(path) << *before;
  FaultyFileSystem disk(fault, call);
  bool success = true;
  {
    const ScopedFileSystem scope(disk);
    try {
      writer(path, kNew);
    } catch (const Error&) {
      success = false;
    }
  }
  const auto report = [&](const std::string& what) {
    findings.problems.push_back(what + " at call " + std::to_string(call));
  };
  if (fault == Fault::power_loss) disk.lose_power(survives);
  const auto after = content_of(path);
  if (success && after != kNew) report("false success");
  if (!success && after != before && after != kNew) report("previous content lost");
  if (!success && (fault == Fault::short_write || !disk.struck())) report("failure without a fault");
  if (success && disk.struck() && fault != Fault::short_write) report("the fault was swallowed");
  if (fault != Fault::power_loss)
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      if (entry.path() != path) report("left behind " + entry.path().filename().string());
  findings.points += disk.struck();
  return disk.struck();
}

Findings examine(const Writer& writer) {
  Findings findings;
  for (const auto& before : {std::optional<std::string>(), std::optional<std::string>(kOld)})
    testing::at_every_fault([&](Fault fault, int call, Survives survives) {
      return attempt(writer, before, fault, call, survives, findings);
    });
  return findings;
}

TEST(WriteFileAtomically, WithstandsAFaultAtEveryCall) {
  const Findings findings = examine([](const Path& path, std::string_view text) { write_file_atomically(path, text); });
  EXPECT_THAT(findings.problems, IsEmpty());
  // create, write, sync, close, rename, sync of the directory; in 6 ways, with and without a file before.
  EXPECT_GE(findings.points, 6 * 6 * 2);
  RecordProperty("fault_points", findings.points);
}

TEST(WriteFileAtomically, WithstandsAFaultAtEveryCallInPieces) {
  const Findings findings = examine([](const Path& path, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    write_file_atomically(path, {bytes.first(7), bytes.subspan(7, 0), bytes.subspan(7)});
  });
  EXPECT_THAT(findings.problems, IsEmpty());
  EXPECT_GE(findings.points, 7 * 6 * 2);
}

// Writers with one mistake each: the examination must find it.
struct PlantedWriter {
  const char* mistake;
  bool temporary = true, sync = true, sync_directory = true, clean_up = true, swallow = false, whole = true;
};

void write_with(const PlantedWriter& plan, const Path& path, std::string_view text) {
  FileSystem& files = file_system();
  const Path target = plan.temporary ? Path(path.string() + ".tmp") : path;
  try {
    auto file = files.create(target);
    const auto bytes = std::as_bytes(std::span(text));
    if (plan.whole)
      write_all(*file, bytes);
    else
      static_cast<void>(file->write_some(bytes));
    if (plan.sync) file->sync();
    file->close();
    if (plan.temporary) files.rename(target, path);
    if (plan.sync_directory) files.sync_directory(path.parent_path());
  } catch (const Error&) {
    if (plan.clean_up) std::filesystem::remove(target);
    if (!plan.swallow) throw;
  }
}

TEST(WriteFileAtomically, TheExaminationFindsPlantedMistakes) {
  const auto findings_of = [](const PlantedWriter& plan) {
    return examine([&](const Path& path, std::string_view text) { write_with(plan, path, text); });
  };
  EXPECT_THAT(findings_of({.mistake = "none"}).problems, IsEmpty());
  for (const PlantedWriter& plan : {PlantedWriter{.mistake = "writes in place", .temporary = false, .clean_up = false},
                                    {.mistake = "no sync of the file", .sync = false},
                                    {.mistake = "no sync of the directory", .sync_directory = false},
                                    {.mistake = "leaves its temporary", .clean_up = false},
                                    {.mistake = "swallows errors", .swallow = true},
                                    {.mistake = "takes a short write for a whole one", .whole = false}})
    EXPECT_THAT(findings_of(plan).problems, Not(IsEmpty())) << plan.mistake;
}

TEST(FaultyDisk, ForgetsUnsyncedAppendsAndDirectories) {
  const TemporaryDirectory directory;
  const Path log = directory / "log", fresh = directory / "a";
  write_file_atomically(log, "one\n");
  FaultyFileSystem disk;
  const auto append = [&](std::string_view text, bool sync) {
    auto file = disk.append(log);
    write_all(*file, std::as_bytes(std::span(text)));
    if (sync) file->sync();
    file->close();
  };
  append("two\n", true);
  append("three\n", false);
  disk.create_directories(fresh / "b");
  EXPECT_EQ(read_file(log), "one\ntwo\nthree\n");
  disk.lose_power();
  EXPECT_EQ(read_file(log), "one\ntwo\n");
  EXPECT_FALSE(std::filesystem::exists(fresh));
  disk.create_directories(fresh);
  disk.sync_directory(directory.path());
  disk.lose_power();
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST(WriteFileAtomically, ReplacesAndKeepsBytes) {
  const TemporaryDirectory directory;
  const Path path = directory / "file";
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7);
  write_file_atomically(path, "short");
  write_file_atomically(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
}

TEST(WriteFileAtomically, NamesThePathAndTheReason) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { write_file_atomically(directory / "none" / "file", "x"); }),
              HasSubstr("cannot open for writing: No such file or directory"));
  std::filesystem::create_directory(directory / "taken");
  EXPECT_THAT(error_of(ErrorKind::io, [&] { write_file_atomically(directory / "taken", "x"); }),
              HasSubstr("/taken] cannot rename into place: Is a directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1) << "a temporary was left";
}

TEST(RealFileSystem, SaysThatTheDiskIsFull) {
  auto full = real_file_system().append("/dev/full");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { write_all(*full, std::as_bytes(std::span(kNew))); }),
            "[/dev/full] cannot write: No space left on device; free some space and run the same command again");
}

TEST(RealFileSystem, AppendsTruncatesAndRemoves) {
  const TemporaryDirectory directory;
  const Path path = directory / "log";
  for (int i = 0; i < 2; ++i) {
    auto file = real_file_system().append(path);
    write_all(*file, std::as_bytes(std::span(std::string_view("line\n"))));
    file->sync();
    file->close();
  }
  EXPECT_EQ(read_file(path), "line\nline\n");
  real_file_system().truncate(path, 5);
  EXPECT_EQ(read_file(path), "line\n");
  real_file_system().remove(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_NO_THROW(real_file_system().remove(path)) << "a missing file is fine";
  EXPECT_THAT(error_of(ErrorKind::io, [&] { real_file_system().truncate(path, 0); }), HasSubstr("cannot truncate"));
}

TEST(RealFileSystem, DirectoryThatIsAFile) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "file", "x");
  EXPECT_THAT(error_of(ErrorKind::io, [&] { real_file_system().create_directories(directory / "file"); }),
              HasSubstr("Not a directory"));
  EXPECT_THAT(error_of(ErrorKind::io, [&] { real_file_system().create_directories(directory / "file" / "in"); }),
              HasSubstr("Not a directory"));
  EXPECT_NO_THROW(real_file_system().create_directories(directory / "a" / "b"));
  EXPECT_NO_THROW(real_file_system().create_directories(directory / "a" / "b"));
}

TEST(ReadFile, NamesWhatIsWrong) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_file(directory / "none"); }),
              HasSubstr("/none] cannot open: No such file or directory"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_file(directory.path()); }),
              HasSubstr("cannot read: Is a directory"));
}

TEST(ScopedFileSystem, IsPutBack) {
  FaultyFileSystem disk;
  {
    const ScopedFileSystem scope(disk);
    EXPECT_EQ(&file_system(), &disk);
  }
  EXPECT_EQ(&file_system(), &real_file_system());
}

}  // namespace
}  // namespace mneme
