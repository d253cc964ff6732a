// Results of other code: commands say so, and a person can discard them.
#include <gmock/gmock.h>

#include "cli/app_testing.h"
#include "core/code_identity.h"

namespace mneme {
namespace {

using testing::AppTest;
using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;
using ::testing::Not;

class ChangedCode : public AppTest {
 protected:
  ChangedCode() {
    const Json trained = json(joined({"train"}, kTiny));
    id = trained["id"];
  }
  Json environment() const { return parse_json(read_file(sample.lab.run(id).path() / "environment.json"), "test"); }
  // As if the sources had been edited since.
  void pretend(const std::string& version, const std::string& build) const {
    Json changed = environment();
    changed["mneme"] = version;
    changed["code"] = build;
    write_file_atomically(sample.lab.run(id).path() / "environment.json", changed.dump());
  }
  std::size_t trashed() const {
    if (!std::filesystem::exists(sample.lab.trash())) return 0;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(sample.lab.trash()), {}));
  }

  std::string id;
};

TEST_F(ChangedCode, DoesNotReturnOldResultsSilently) {
  EXPECT_EQ(environment()["code"], this_code().build);
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).err, Not(HasSubstr("code")));

  pretend("0.1.0-dev", "0123456789ab");
  const ProcessResult again = mneme(joined({"train"}, kTiny));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("run " + id + " was made by other code"));
  EXPECT_THAT(again.err, HasSubstr("0123456789ab"));
  EXPECT_THAT(again.err, HasSubstr(this_code().build));
  EXPECT_THAT(mneme({"report", "mixer=attention"}).err, HasSubstr("other code"));
  EXPECT_THAT(mneme({"show", id}).out, HasSubstr("made by 0.1.0-dev, code 0123456789ab, other code than this program"));

  const ProcessResult unasked = mneme(joined({"train", "--same-code"}, kTiny));
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.err, HasSubstr("--yes"));
  EXPECT_EQ(environment()["code"], "0123456789ab") << "nothing was destroyed";

  const ProcessResult fresh = mneme(joined({"train", "--same-code", "--yes"}, kTiny));
  EXPECT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_THAT(fresh.out, Not(HasSubstr("already finished")));
  EXPECT_EQ(environment()["code"], this_code().build);
  EXPECT_EQ(trashed(), 1u);
}

TEST_F(ChangedCode, OfAnotherReleaseIsSaidAndOfTheSameReleaseIsNot) {
  pretend("9.9.9", "0123456789ab");
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).err, HasSubstr("other code"));
  pretend(this_code().version, this_code().build);
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).err, Not(HasSubstr("code")));
}

TEST_F(ChangedCode, FromBeforeItWasRecordedIsUsedWithANote) {
  Json changed = environment();
  changed.erase("code");
  write_file_atomically(sample.lab.run(id).path() / "environment.json", changed.dump());
  const ProcessResult again = mneme(joined({"train"}, kTiny));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("already finished"));
  EXPECT_THAT(again.err, HasSubstr("note: 1 run from before the code was recorded"));
}

TEST_F(ChangedCode, RetryDoneAndRmAskAndKeepWhatTheyRemove) {
  EXPECT_THAT(mneme({"retry", id}).out, HasSubstr("--done"));
  EXPECT_EQ(mneme({"retry", "--done", id}).exit_code, 2) << "nobody can be asked";
  EXPECT_EQ(trashed(), 0u);
  const ProcessResult retried = mneme({"retry", "--done", "--yes", id});
  EXPECT_EQ(retried.out, "1 run can be trained again\n") << retried.err;
  EXPECT_EQ(trashed(), 1u);
  EXPECT_EQ(json({"runs"})["runs"][0]["state"], "new");
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).out, Not(HasSubstr("already finished")));

  EXPECT_EQ(mneme({"rm", id}).exit_code, 2) << "nobody can be asked";
  EXPECT_EQ(trashed(), 1u);
  EXPECT_EQ(json({"rm", "--yes", "mixer=attention"})["removed"], Json::array({id}));
  EXPECT_EQ(trashed(), 2u);
  EXPECT_TRUE(json({"runs"})["runs"].empty());
}

}  // namespace
}  // namespace mneme
