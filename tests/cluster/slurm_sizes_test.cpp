// The same study on one machine, on two nodes and on eight.
#include <gtest/gtest.h>

#include "cluster/slurm_trouble.h"

namespace mneme {
namespace {

class SlurmSizes : public testing::SlurmTrouble {
 protected:
  SlurmSizes() : SlurmTrouble(8) { steps = "train.steps=2000"; }
};

TEST_F(SlurmSizes, SlowOneMachineTwoNodesAndEightGiveTheSameTable) {
  const testing::Account calm = on_this_machine({study.string(), steps});
  for (const char* nodes : {"2", "8"}) {
    const testing::SampleLab fresh;
    lab = store::Lab(fresh.lab.root());
    const ProcessResult result =
        mneme({"sweep", study.string(), steps, "--executor", "slurm", "--nodes", nodes, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err << logs();
    expect_whole(calm, (std::string(nodes) + " nodes").c_str());
  }
}

}  // namespace
}  // namespace mneme
