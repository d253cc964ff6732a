// The tour of the README, as a reader pastes it.
#include <gmock/gmock.h>

#include "cli/app_testing.h"
#include "core/text.h"

namespace mneme {
namespace {

class Tour : public testing::AppTest {};

// The lines of the block, without their comments; studies at the scale of tests, for no demo has been run here.
std::vector<std::string> tour_lines() {
  const std::string readme = read_file(Path(source_directory()) / "README.md");
  std::vector<std::string> lines;
  for (const std::string& line : split(readme.substr(readme.find("## A five-minute tour")), '\n')) {
    if (!line.starts_with("    ")) {
      if (lines.empty()) continue;
      break;
    }
    std::string command = line.substr(4, line.find(" #") - 4);
    if (const std::size_t demo = command.find(" demo"); demo != command.npos)
      command.insert(demo + 5, " --scale smoke");
    if (!command.starts_with("export ")) lines.push_back(command);
  }
  return lines;
}

// The first run ended at 46 %, a study that was never made was swept, and another lab than the demo's was used.
TEST_F(Tour, EveryLineWorksInItsOrder) {
  const std::vector<std::string> lines = tour_lines();
  ASSERT_GE(lines.size(), 12u);
  for (const std::string& line : lines) {
    const ProcessResult result = run_process(
        {"env", "MNEME_LAB=" + sample.lab.root().string(), "bash", "-c",
         "cd '" + std::string(source_directory()) + "' && PATH='" + binary_directory() + "':$PATH && " + line});
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
  }
  const Json runs = json({"runs", "tag=tour", "--sort=-test"})["runs"];
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_GT(runs[0]["test_accuracy"].get<double>(), 0.9) << "it ends well";
}

}  // namespace
}  // namespace mneme
