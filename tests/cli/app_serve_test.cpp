// `mneme serve` as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/app_testing.h"
#include "serve/http_client.h"
#include "support/children.h"

namespace mneme {
namespace {

using testing::AppTest;
using ::testing::HasSubstr;

class AppServeTest : public AppTest {
 protected:
  // The server's first document on standard output.
  Json begin(LineProcess& server) const {
    std::string text;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      for (const std::string& line : server.receive()) text += line + "\n";
      if (text.ends_with("}\n")) return parse_json(text, "output");
      ::usleep(10000);
    }
    ADD_FAILURE() << "no address: " << text << server.error_tail();
    return {};
  }
  LineProcess::Options options(std::vector<std::string> arguments) const {
    return {.argv = testing::joined({binary_directory() + "/mneme", "serve", "--json", "--port", "0"}, arguments),
            .environment = {"MNEME_LAB=" + sample.lab.root().string()}};
  }
  int exit_code(LineProcess& server) const {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      server.receive();
      if (const auto code = server.exit_code()) return *code;
      ::usleep(10000);
    }
    return -1;
  }
};

TEST_F(AppServeTest, ServesUntilCtrlC) {
  const std::string run = sample.add_done();
  LineProcess server(options({}));
  const Json told = begin(server);
  ASSERT_TRUE(told.contains("port"));
  const auto port = told["port"].get<unsigned short>();
  EXPECT_EQ(told["address"], "http://127.0.0.1:" + std::to_string(port) + "/");
  testing::HttpClient client(port);
  client.send(testing::get_request("/api/v1/runs/" + run, port));
  EXPECT_EQ(client.read_answer().json()["id"], run);
  // The same port again: taken, and the first goes on.
  const ProcessResult second = mneme({"serve", "--port", std::to_string(port)});
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_THAT(second.err, HasSubstr("is taken, expected a free one"));
  server.signal(SIGINT);
  EXPECT_EQ(exit_code(server), 0);
}

TEST_F(AppServeTest, AnotherAddressPrintsItsToken) {
  LineProcess server(options({"--host", "0.0.0.0"}));
  const Json told = begin(server);
  EXPECT_THAT(told["address"].get<std::string>(), HasSubstr("/?token="));
  server.signal(SIGTERM);
  EXPECT_EQ(exit_code(server), 0);
  EXPECT_THAT(server.error_tail(), HasSubstr("others on the network"));
}

TEST_F(AppServeTest, WrongUseIsSaidClearly) {
  const ProcessResult no_lab = mneme({"serve", "--lab", (sample.directory / "nowhere").string()});
  EXPECT_EQ(no_lab.exit_code, 3);
  EXPECT_THAT(no_lab.err, HasSubstr("is not a lab, expected a directory with runs/ in it"));
  EXPECT_EQ(mneme({"serve", "--port", "70000"}).exit_code, 2);
  EXPECT_EQ(mneme({"serve", "--host", "example.com", "--port", "0"}).exit_code, 2);
  EXPECT_EQ(mneme({"serve", "--results", "nowhere"}).exit_code, 2);
  EXPECT_EQ(mneme({"serve", "--export", "/proc/nowhere/site"}).exit_code, 4);
  EXPECT_THAT(mneme({"serve", "--prot", "1"}).err, HasSubstr("did you mean '--port'"));
}

TEST_F(AppServeTest, ExportsTheSameAsFiles) {
  sample.add_done();
  const Path site = sample.directory / "site";
  EXPECT_GT(json({"serve", "--export", site.string()})["files"], 10);
  EXPECT_TRUE(std::filesystem::exists(site / "api/v1/lab.json"));
}

}  // namespace
}  // namespace mneme
