// `mneme doctor` where something is wrong: every check must be able to fail, and say so.
#include "cluster/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

#include "cluster/preflight.h"
#include "core/error.h"
#include "core/subprocess.h"
#include "store/postgres.h"
#include "store/sample_lab.h"
#include "support/children.h"
#include "support/places.h"
#include "support/postgres_server.h"

namespace mneme::cluster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DoctorCommand : public ::testing::Test {
 protected:
  // `wrong`: assignments of the environment.
  ProcessResult doctor(const std::vector<std::string>& wrong, const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> all{"env", "-u", "MNEME_LEASES", "XDG_CONFIG_HOME=" + sample.directory.path().string()};
    all.insert(all.end(), wrong.begin(), wrong.end());
    all.insert(all.end(), {binary_directory() + "/mneme", "doctor", "--lab", sample.lab.root().string()});
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_process(all);
  }
  // "FAILED worker: text"
  static std::vector<std::string> findings(const ProcessResult& result, std::string_view verdict) {
    std::vector<std::string> found;
    const Json answer = parse_json(result.out, "doctor");
    for (const Json& finding : answer.at("findings"))
      if (finding.at("verdict").get<std::string>() == verdict)
        found.push_back(finding.at("subject").get<std::string>() + ": " + finding.at("text").get<std::string>());
    return found;
  }
  std::string programs(const std::string& name, const std::string& text) const {
    const Path directory = sample.directory / "bin";
    std::filesystem::create_directories(directory);
    write_file_atomically(directory / name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(directory / name, std::filesystem::perms::owner_all);
    return "PATH=" + directory.string() + ":/usr/bin:/bin";
  }

  testing::SampleLab sample;
};

TEST_F(DoctorCommand, AWorkerThatDoesNotStartAndADatabaseThatIsNotThereFail) {
  const ProcessResult result =
      doctor({"MNEME_WORKER=/bin/false"}, {"--json", "--leases", "postgresql:///nowhere?host=/nonexistent"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ErrorKind::io));
  EXPECT_THAT(findings(result, "FAILED"), ::testing::IsSupersetOf({HasSubstr("worker: "), HasSubstr("PostgreSQL: ")}));
  EXPECT_THAT(doctor({"MNEME_WORKER=/bin/false"}).out, HasSubstr("repair what FAILED first"));
}

TEST_F(DoctorCommand, ADatabaseThatOthersMayNotWriteAndAClockThatIsWrongAreSeen) {
  testing::PostgresServer server;
  MNEME_NEEDS_POSTGRES(server);
  store::PostgresConnection connection(server.address());
  connection.execute("CREATE ROLE guest LOGIN");
  connection.execute("CREATE TABLE mneme_leases (lab text)");
  std::string guest = server.address();
  guest.replace(guest.find("user=mneme"), 10, "user=guest");
  const std::vector<Finding> refused = examine_database(store::Lab(sample.lab.root(), guest));
  ASSERT_EQ(refused.size(), 3u);
  EXPECT_EQ(refused[1].verdict, Verdict::bad);
  EXPECT_THAT(refused[1].text, HasSubstr("may not write the table"));

  // One right of three is not enough: the server calls a list of rights held if any of them is.
  connection.execute("GRANT SELECT ON mneme_leases TO guest");
  const std::vector<Finding> reader = examine_database(store::Lab(sample.lab.root(), guest));
  ASSERT_EQ(reader.size(), 3u);
  EXPECT_EQ(reader[1].verdict, Verdict::bad);
  EXPECT_THAT(reader[1].text, HasSubstr("it lacks INSERT, UPDATE"));
  EXPECT_THROW(check_leases(store::Lab(sample.lab.root(), guest), {}), Error);
  connection.execute("GRANT INSERT, UPDATE ON mneme_leases TO guest");
  EXPECT_EQ(examine_database(store::Lab(sample.lab.root(), guest))[1].verdict, Verdict::good);
  check_leases(store::Lab(sample.lab.root(), guest), {});

  // A function of this name goes before the server's own.
  connection.execute(
      "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
      "'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''");
  const std::vector<Finding> late =
      examine_database(store::Lab(sample.lab.root(), server.address() + "&options=-csearch_path%3Dpublic,pg_catalog"));
  ASSERT_EQ(late.size(), 3u);
  EXPECT_EQ(late[1].verdict, Verdict::good);
  EXPECT_EQ(late[2].verdict, Verdict::doubtful);
  EXPECT_THAT(late[2].text, ::testing::AnyOf(HasSubstr("+3599."), HasSubstr("+3600.")));
}

TEST_F(DoctorCommand, SlurmThatDoesNotAnswerOrWhoseNodesCannotSeeTheLabIsSeen) {
  const std::string path = programs("sinfo", "echo 'main|elsewhere7'\n");
  for (const char* name : {"sbatch", "squeue"}) programs(name, "exit 0\n");
  EXPECT_THAT(findings(doctor({path}, {"--json"}), "warning"),
              ::testing::Contains(AllOf(HasSubstr("Slurm: "), HasSubstr("which the node elsewhere7 cannot see"))));
  write_file_atomically(sample.lab.root() / "slurm.toml", "shared = true\npartition = \"mian\"\n");
  EXPECT_THAT(findings(doctor({path}, {"--json"}), "FAILED"),
              ::testing::ElementsAre(HasSubstr("did you mean 'main'?")));
  programs("sinfo", "echo 'sinfo: error: nobody is there' >&2\nexit 1\n");
  EXPECT_THAT(findings(doctor({path}, {"--json"}), "FAILED"),
              ::testing::ElementsAre(HasSubstr("Slurm does not answer: error: nobody is there")));
}

// From here on flock(2) gives this error in this process and its children; with 0 it does nothing and says that it has.
void break_locks(unsigned error) {
  std::array code{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                  sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
                  sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                  sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{code.size(), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::runtime_error("no filter of system calls here");
}

TEST_F(DoctorCommand, ADiskWithoutLocksAndOneWhoseLocksLockNothingFail) {
  testing::in_children(2, [&](int child) {
    break_locks(child == 0 ? ENOLCK : 0);
    for (const Finding& finding : examine_disk(sample.lab.root())) {
      if (finding.subject != "flock") continue;
      const char* expected = child == 0 ? "does not work here" : "does not keep another process out";
      if (finding.verdict == Verdict::bad && finding.text.find(expected) != std::string::npos &&
          finding.text.find("--stage") != std::string::npos)
        return;
      throw std::runtime_error(finding.text);
    }
    throw std::runtime_error("locks were not examined");
  });
}

TEST_F(DoctorCommand, NothingIsSubmittedWithoutLocksUnlessRunsAreStaged) {
  check_locks(sample.lab, {});
  testing::in_children(1, [&](int) {
    break_locks(ENOLCK);
    check_locks(sample.lab, {.stage = "/tmp"});
    try {
      check_locks(sample.lab, {});
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("use --stage") != std::string_view::npos) return;
      throw;
    }
    throw std::runtime_error("it was not refused");
  });
  for (const auto& entry : std::filesystem::directory_iterator(sample.lab.root()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".doctor")) << entry.path();
}

TEST_F(DoctorCommand, ADiskWithHardlyAnyRoomFails) {
  const Path disk = sample.directory / "disk";
  std::filesystem::create_directories(disk);
  if (run_process({"mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk.string()}).exit_code != 0)
    GTEST_SKIP() << "only root may mount a disk";
  const std::vector<Finding> found = examine_disk(disk);
  run_process({"umount", disk.string()});
  EXPECT_EQ(found.back().subject, "space");
  EXPECT_EQ(found.back().verdict, Verdict::bad) << found.back().text;
}

}  // namespace
}  // namespace mneme::cluster
