// What every command shares: help, bad input, exit codes, trouble with the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/app_testing.h"
#include "cli/command.h"
#include "core/code_identity.h"
#include "support/places.h"

namespace mneme::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::joined;
using testing::kTiny;
using ::testing::Not;
using ::testing::StartsWith;

class App : public testing::AppTest {};

TEST_F(App, WithoutArgumentsSaysWhatToTryFirst) {
  const ProcessResult result = mneme({});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* command : {"mneme demo", "mneme train", "mneme list"}) EXPECT_THAT(result.out, HasSubstr(command));
}

TEST_F(App, EveryCommandHasHelpWithAnExample) {
  const ProcessResult all = mneme({"--help"});
  for (const Command& command : command_list()) {
    EXPECT_THAT(all.out, HasSubstr(command.name));
    const ProcessResult result = mneme({command.name, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("Examples:\n  mneme ") + command.name));
    EXPECT_THAT(result.out, HasSubstr("--json"));
    EXPECT_THAT(result.out, HasSubstr("--lab"));
    EXPECT_THAT(result.out, HasSubstr("--leases"));
  }
  EXPECT_EQ(mneme({"--version"}).out, "mneme " + describe(this_code()) + "\n");
}

struct BadInput {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

TEST_F(App, BadInputIsOneLineWithAnExitCode) {
  const std::string file = sample.directory / "file";
  write_file_atomically(file, "a = [");
  const std::vector<BadInput> cases = {
      {{"trian"}, 2, "unknown command 'trian', did you mean 'train'?"},
      {{"runs", "--limt", "3"}, 2, "[runs] unknown option --limt, did you mean '--limit'?"},
      {{"train", "model.mixer=atention"}, 2, "unknown mixer 'atention', did you mean 'attention'?"},
      {{"train", "train.lrr=1"}, 2, "unknown key 'lrr', did you mean 'lr'?"},
      {{"train", "trian.lr=1"}, 2, "unknown table 'trian', did you mean 'train'?"},
      {{"train", "task.length=16", "task.pairs=5"}, 2, "task.pairs: got 5, expected at most length / 4 = 4"},
      {{"train", "task.length=33"}, 2, "task.length: got 33"},
      {{"train", "task.length=64", "task.vocab=64"}, 2, "task.vocab: got 64, expected more than length = 64"},
      {{"train", "train.lr=fast"}, 2, "train.lr: got \"fast\", expected a number"},
      {{"train", "train.lr=[1e-3, 1e-2]"}, 2, "train.lr: got [0.001,0.01], expected a number"},
      {{"train", "/nowhere/run.toml"}, 3, "[/nowhere/run.toml] cannot open"},
      {{"train", file}, 2, "not valid TOML"},
      {{"train", "a", "b"}, 2, "expected one file"},
      {{"sweep", "dmeo"}, 2, "unknown study 'dmeo', did you mean 'demo'?"},
      {{"sweep"}, 2, "expected STUDY"},
      {{"sweep", "demo", "--jobs", "0"}, 2, "[--jobs] got 0"},
      {{"sweep", "demo", "--jobs", "two"}, 2, "--jobs"},
      {{"sweep", "demo", "--scale", "smok"}, 2, "unknown scale 'smok', did you mean 'smoke'?"},
      {{"sweep", "demo", "train.seed=[]"}, 2, "train.seed: an empty list"},
      {{"show", "0123"}, 2, "no run starts with '0123'"},
      {{"show", ""}, 2, "no run starts with ''"},
      {{"show", "mixer", "mambo"}, 2, "unknown mixer 'mambo'"},
      {{"show", "task", "mqra"}, 2, "unknown task 'mqra', did you mean 'mqar'?"},
      {{"list", "mixrs"}, 2, "did you mean 'mixers'?"},
      {{"runs", "mixre=attention"}, 2, "unknown key 'mixre', did you mean 'mixer'?"},
      {{"runs", "--sort", "lrr"}, 2, "unknown key 'lrr'"},
      {{"runs", "--limit", "-1"}, 2, "[--limit]"},
      {{"runs", "--lab", file}, 4, "is a file, expected a directory"},
      {{"runs", "--lab", "/nowhere/lab"}, 3, "is not a lab"},
      {{"report", "demo"}, 3, "mneme sweep demo"},
      {{"report", "--scale", "smoke"}, 2, "needs a study"},
      {{"verify"}, 2, "expected FILE"},
      {{"verify", "/nowhere/case"}, 3, "[/nowhere/case] cannot open"},
      {{"verify", "/tmp"}, 3, "is a directory"},
      {{"verify", file, "--tolerance", "0"}, 2, "[--tolerance]"},
      {{"bench", "--seconds", "0"}, 2, "[--seconds]"},
      {{"bench", "train", "--seconds", "-1"}, 2, "[--seconds]"},
      {{"bench", "train", "model.mixer=mamab"}, 2, "unknown mixer 'mamab', did you mean 'mamba'?"},
      {{"bench", "mixer"}, 2, "mixer"},
      {{"bench", "mixer", "mamab"}, 2, "unknown mixer 'mamab', did you mean 'mamba'?"},
      {{"bench", "mixer", "mamba", "d_stat=4"}, 2, "unknown key 'd_stat', did you mean 'd_state'?"},
      {{"bench", "mixer", "attention", "num_heads=3"}, 2, "num_heads"},
      {{"bench", "mixer", "rnn", "--lengths", "8,8"}, 2, "[--lengths] length 8 is given twice"},
      {{"bench", "mixer", "rnn", "--batch", "0"}, 2, "[--batch]"},
      {{"sample", "mqra"}, 2, "did you mean 'mqar'?"},
      {{"sweep", "demo", "--max-time", "soon"}, 2, "[--max-time] got 'soon', expected a time like 90s"},
      {{"sweep", "demo", "--max-runs", "-1"}, 2, "[--max-runs]"},
      {{"plan", "dmeo"}, 2, "did you mean 'demo'?"},
      {{"plan", "demo", "--nodes", "0"}, 2, "[--nodes]"},
      {{"export", "--format", "cvs"}, 2, "did you mean 'csv'?"},
      {{"export", "--format", "tensorboard"}, 2, "expected a directory"},
      {{"diff", "0123", "4567"}, 2, "no run starts with '0123'"},
      {{"retry"}, 2, "no runs selected"},
      {{"cancel", "state=runing", "lrr=3"}, 2, "unknown state 'runing', did you mean 'running'?"},
      {{"window", "--low", "1", "--high", "0.1"}, 2, "expected two rates in ascending order"},
      {{"window", "--rates", "1"}, 2, "[--rates]"},
      {{"window", "train.batch=[1, 2]", "--rates", "4"}, 2, "axes other than"},
  };
  for (const BadInput& bad : cases) {
    const ProcessResult result = mneme(bad.arguments);
    const std::string what = ::testing::PrintToString(bad.arguments);
    EXPECT_EQ(result.exit_code, bad.exit_code) << what << result.err;
    EXPECT_THAT(result.err, StartsWith("mneme: error: ")) << what;
    EXPECT_THAT(result.err, HasSubstr(bad.message)) << what;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << what << result.err;
    EXPECT_THAT(result.out, IsEmpty()) << what;

    const ProcessResult machine = mneme(joined(bad.arguments, {"--json"}));
    EXPECT_EQ(machine.exit_code, bad.exit_code) << what;
    EXPECT_THAT(machine.out, IsEmpty()) << what;
    const Json error = parse_json(machine.err, what);
    EXPECT_EQ(error["error"]["code"], bad.exit_code) << what;
    EXPECT_THAT(error["error"]["message"].get<std::string>(), HasSubstr(bad.message)) << what;
  }
}

TEST_F(App, APasswordIsNeverPrinted) {
  const std::string address = "postgresql://user:secret@127.0.0.1:1/db";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"status", "--leases", address},
                                             {"status", "--leases=postgresql://user:sec/ret@127.0.0.1:1/db"},
                                             {"sweep", "demo", "--scale", "smoke", "--leases", address},
                                             {"--leases", address, "cancel", "--study", "demo"},
                                             {"--lease", address, "status"},
                                             {address},
                                             {"runs", address},
                                             {"sweep", address}}) {
    for (const bool machine : {false, true}) {
      const ProcessResult result = mneme(machine ? joined(arguments, {"--json"}) : arguments);
      if (arguments[0] == "status" && arguments.back() == address) {  // it tells what it knows without the database
        EXPECT_THAT(result.out, HasSubstr("cannot connect"));
      } else {
        EXPECT_NE(result.exit_code, 0) << ::testing::PrintToString(arguments);
        EXPECT_THAT(result.err, HasSubstr("error"));
      }
      EXPECT_THAT(result.out + result.err, Not(AnyOf(HasSubstr("secret"), HasSubstr("sec/ret"))));
    }
  }
}

TEST_F(App, OldNamesOfLeasesWorkWithANote) {
  const std::string address = "postgresql://127.0.0.1:1/db";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"status", "--claims", address}, {"--claims", address, "status"}}) {
    const ProcessResult option = mneme(arguments);
    EXPECT_THAT(option.out, HasSubstr("cannot connect")) << "it asks the server";
    EXPECT_THAT(option.err, HasSubstr("mneme: note: --claims is now called --leases"));
  }
  EXPECT_THAT(mneme({"status", "--help"}).out, Not(HasSubstr("--claims")));
  const ProcessResult variable = run_process(
      {"env", "MNEME_CLAIMS=" + address, binary_directory() + "/mneme", "status", "--lab", sample.lab.root().string()});
  EXPECT_THAT(variable.out, HasSubstr("cannot connect"));
  EXPECT_THAT(variable.err, HasSubstr("mneme: note: MNEME_CLAIMS is now called MNEME_LEASES"));

  write_file_atomically(sample.lab.root() / "claims.db", "");
  const ProcessResult file = mneme({"status"});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_THAT(file.err, HasSubstr("claims.db is now called leases.db"));
  EXPECT_THAT(mneme({"status", "--json"}).out, Not(HasSubstr("note")));
}

TEST_F(App, AMissingWorkerIsNamed) {
  const ProcessResult result =
      run_process(joined({"env", "MNEME_WORKER=/nowhere/worker", binary_directory() + "/mneme", "train"}, kTiny));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("/nowhere/worker"));
}

TEST_F(App, AFullDiskStopsWithAClearMessage) {
  if (run_process({"unshare", "-Urm", "true"}).exit_code != 0)
    GTEST_SKIP() << "no user namespaces here: cannot make a small disk";
  const Path disk = sample.directory / "disk";
  std::filesystem::create_directories(disk);
  // Room for the lab and its index, not for the run's checkpoint.
  const ProcessResult result =
      run_process({"unshare", "-Urm", "sh", "-c",
                   "mount -t tmpfs -o size=96k tmpfs \"$0\" && exec \"$1\" train --lab \"$0/lab\" model.width=64 "
                   "train.steps=3 train.eval_examples=8 train.test_examples=8 train.batch=4",
                   disk.string(), binary_directory() + "/mneme"});
  EXPECT_EQ(result.exit_code, 4) << result.out << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("No space left on device"));
}

TEST_F(App, VerifyTellsRightFromWrong) {
  const std::string good = source_directory() + "/tests/golden/mlp-m1.safetensors";
  EXPECT_THAT(mneme({"verify", good}).out, HasSubstr("1 of 1 files agree"));
  const ProcessResult strict = mneme({"verify", good, "--tolerance", "1e-12"});
  EXPECT_EQ(strict.exit_code, 6);
  EXPECT_THAT(strict.out, StartsWith("FAIL"));
  write_file_atomically(sample.directory / "damaged", read_file(good).substr(0, 100));
  const ProcessResult damaged = mneme({"verify", good, sample.directory / "damaged", "--json"});
  EXPECT_EQ(damaged.exit_code, 6);
  const Json document = parse_json(damaged.out, "output");
  EXPECT_EQ(document["failed"], 1);
  EXPECT_EQ(document["cases"][0]["ok"], true);
}

TEST_F(App, ListsAndSamplesAreDocuments) {
  const Json lists = json({"list"});
  EXPECT_GE(lists["mixers"].size(), 1u);
  EXPECT_GE(lists["tasks"].size(), 1u);
  EXPECT_TRUE(std::any_of(lists["studies"].begin(), lists["studies"].end(),
                          [](const Json& study) { return study["name"] == "demo"; }));
  EXPECT_EQ(json({"show", "mixer", "attention"})["name"], "attention");
  EXPECT_EQ(json({"show", "task", "mqar"})["name"], "mqar");
  EXPECT_EQ(json({"sample", "mqar", "length=8", "pairs=1", "vocab=16", "--n", "2"})["examples"].size(), 2u);
}

TEST_F(App, BenchTrainSplitsAStepIntoParts) {
  const std::string file = (sample.directory / "case.safetensors").string();
  const Json result = json(joined({"bench", "train", "--seconds", "0.01", "--profile", "--save-case", file}, kTiny));
  for (const char* key :
       {"tokens_per_second", "step_seconds", "step_thread_seconds", "useful_flop", "useful_flops", "sgemm_square_flops",
        "sgemm_model_flops", "mfu_square", "mfu_model", "gradient_norm_seconds", "tensor_bytes", "resident_bytes"})
    EXPECT_GT(result.at(key).get<double>(), 0) << key;
  EXPECT_GE(result.at("recording_seconds").get<double>(), 0);
  EXPECT_TRUE(std::filesystem::exists(file));

  double share = 0, flop = 0, of_operations = 0;
  std::set<std::string> names;
  for (const Json& part : result["parts"]) {
    names.insert(part["part"].get<std::string>());
    share += part["share"].get<double>();
    flop += part.value("useful_flop", 0.0);
    double kinds = 0;
    for (const auto& [kind, seconds] : part["kinds"].items()) kinds += seconds.get<double>();
    EXPECT_NEAR(kinds, part["seconds"].get<double>(), 1e-9) << part;
    EXPECT_NEAR(part["forward"].get<double>() + part["backward"].get<double>(), part["seconds"].get<double>(), 1e-9)
        << part;
  }
  EXPECT_EQ(names, (std::set<std::string>{"attention", "data", "embedding", "head", "mlp", "norms, residual",
                                          "optimiser", "rest"}));
  EXPECT_NEAR(share, 1.0, 1e-9);
  EXPECT_NEAR(flop, result["useful_flop"].get<double>(), 1e-6 * flop);
  for (const Json& row : result["operations"]) {
    EXPECT_TRUE(names.contains(row["part"].get<std::string>())) << row;
    of_operations += row["share"].get<double>();
  }
  EXPECT_NEAR(of_operations, 1.0, 1e-9);
}

TEST_F(App, BenchAloneIsBenchTrain) {
  const ProcessResult bare = mneme(joined({"bench", "--seconds", "0.01"}, kTiny));
  const ProcessResult named = mneme(joined({"bench", "train", "--profile", "--seconds", "0.01"}, kTiny));
  for (const ProcessResult& result : {bare, named}) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* text : {"tokens per second", "useful work is", "memory", "norms, residual", "optimiser"})
      EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_THAT(bare.out, Not(HasSubstr("operation")));
  EXPECT_THAT(named.out, HasSubstr("operation"));
  EXPECT_THAT(mneme({"bench", "train", "--help"}).out, HasSubstr("--profile"));
}

TEST_F(App, BenchMixerMeasuresEachLengthAndSavesItsWorkload) {
  const std::string file = (sample.directory / "case.safetensors").string();
  const Json result = json({"bench", "mixer", "mamba", "d_state=4", "--width", "8", "--lengths", "6,12", "--batch", "2",
                            "--seconds", "0.01", "--save-case", file});
  EXPECT_EQ(result["options"]["d_state"], 4);
  ASSERT_EQ(result["rows"].size(), 2u);
  EXPECT_EQ(result["rows"][0]["length"], 6);
  EXPECT_EQ(result["rows"][1]["length"], 12);
  for (const Json& row : result["rows"]) {
    EXPECT_GT(row["tokens_per_second"].get<double>(), 0);
    EXPECT_GT(row["useful_flops"].get<double>(), 0);
    EXPECT_GT(row["peak_bytes"].get<std::int64_t>(), 0);
  }
  EXPECT_GT(result["memory_exponent"].get<double>(), 0);
  EXPECT_EQ(mneme({"verify", file}).exit_code, 0);
}

}  // namespace
}  // namespace mneme::cli
