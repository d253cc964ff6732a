// How the program talks: usage lines, long descriptions, narrow terminals.
#include <gmock/gmock.h>

#include "cli/app_testing.h"
#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HelpFormat : public testing::AppTest {
 protected:
  // The lines that a terminal of this width shows.
  std::vector<std::string> lines_at(int columns, const std::string& arguments) const {
    const std::string command = "stty cols " + std::to_string(columns) +
                                "; NO_COLOR=1 TERM=xterm MNEME_LAB=" + sample.lab.root().string() + " " +
                                binary_directory() + "/mneme " + arguments;
    std::vector<std::string> lines;
    for (std::string line : split(run_process({"script", "-qec", command, "/dev/null"}).out, '\n')) {
      while (line.ends_with('\r')) line.pop_back();
      lines.push_back(line);
    }
    return lines;
  }
};

// Usage lines said `what(1x)` and `RUN RUN x 2`, and each help had a line of 170 characters.
TEST_F(HelpFormat, EveryHelpFitsAndNamesItsArguments) {
  for (const cli::Command& command : cli::command_list()) {
    const std::string help = mneme({command.name, "--help"}).out;
    EXPECT_THAT(help, Not(::testing::ContainsRegex("[0-9]x\\)|x [0-9]|REQUIRED|Positionals| INT | FLOAT ")))
        << command.name;
    for (const std::string& line : split(help.substr(0, help.find("Examples:")), '\n'))
      EXPECT_LE(cli::display_width(line), 100u) << line;
  }
  EXPECT_THAT(mneme({"show", "--help"}).out, HasSubstr("Usage: mneme show [OPTIONS] (RUN | mixer NAME | task NAME)\n"));
  EXPECT_THAT(mneme({"diff", "--help"}).out, HasSubstr("Usage: mneme diff [OPTIONS] RUN RUN\n"));
  EXPECT_THAT(mneme({"sweep", "--help"}).out, HasSubstr("Usage: mneme sweep [OPTIONS] STUDY [a.b=value ...]\n"));
}

// `[show] what is required`.
TEST_F(HelpFormat, MissingArgumentsAreCalledByTheirNames) {
  for (const auto& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"show"}, "[show] got nothing, expected RUN | mixer NAME | task NAME; see --help"},
           {{"diff"}, "[diff] got nothing, expected RUN RUN; see --help"},
           {{"diff", "3f2a"}, "[diff] got '3f2a', expected RUN RUN; see --help"},
           {{"sweep"}, "[sweep] got nothing, expected STUDY [a.b=value ...]; see --help"},
           {{"sweep", "demo", "--jobs"}, "[sweep] --jobs: got nothing, expected a whole number; see --help"},
           {{"sweep", "demo", "--jobs", "two"}, "[sweep] --jobs: got 'two', expected a whole number; see --help"},
           {{"runs", "--limit", "many"}, "[runs] --limit: got 'many', expected a whole number; see --help"},
           {{"window", "--low", "small"}, "[window] --low: got 'small', expected a number; see --help"},
           {{"sweep", "demo", "--executor", "cloud"},
            "--executor: got 'cloud', expected one of local,slurm; see --help"},
           {{"runs", "--jsn"}, "[runs] unknown option --jsn, did you mean '--json'?"},
       }) {
    const ProcessResult result = mneme(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(said));
  }
}

// Tables never adapted: a terminal broke their lines in the middle of words.
TEST_F(HelpFormat, TablesAndHelpFitTheTerminal) {
  sample.add_done({"train.lr=0.001"});
  for (const int columns : {60, 80, 100})
    for (const char* command :
         {"runs", "list", "list claims", "list budgets", "sweep --help", "plan demo --no-measure"})
      for (const std::string& line : lines_at(columns, command)) {
        const bool example = line.starts_with("  mneme ");  // to be copied
        EXPECT_TRUE(example || cli::display_width(line) <= static_cast<std::size_t>(columns))
            << command << ": " << line;
      }
}

}  // namespace
}  // namespace mneme
