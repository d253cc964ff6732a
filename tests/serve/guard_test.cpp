#include "serve/guard.h"

#include <gtest/gtest.h>

#include <set>

namespace mneme::serve {
namespace {

Request from(std::string host) {
  Request request;
  request.host = std::move(host);
  return request;
}

int status_of(const Guard& guard, const Request& request) {
  const auto refusal = guard.refusal(request);
  return refusal ? refusal->status : 200;
}

// Hosts that are not ours: other spellings of loopback, names that contain ours, other ports, punctuation.
std::vector<std::string> foreign_hosts() {
  std::vector<std::string> hosts = {"",      ":8470",   "8470", "localhost:", "localhost:0", "localhost:84700",
                                    "[::1]", "::1:8470"};
  const std::vector<std::string> names = {"127.0.0.1.example.com",
                                          "localhost.example.com",
                                          "example.com",
                                          "example.com#localhost",
                                          "localhost.",
                                          "127.0.0.1.",
                                          "127.1",
                                          "127.0.1",
                                          "2130706433",
                                          "0x7f000001",
                                          "0177.0.0.1",
                                          "127.0.0.2",
                                          "0.0.0.0",
                                          "[::]",
                                          "[::ffff:127.0.0.1]",
                                          "[0:0:0:0:0:0:0:1]",
                                          "[::1%lo]",
                                          "user@localhost",
                                          "localhost@example.com",
                                          "localhost,localhost",
                                          "localhost localhost",
                                          "localhost/",
                                          "http://localhost",
                                          "xlocalhost",
                                          "localhostx",
                                          "local-host",
                                          "ip6-localhost",
                                          "localhost.localdomain"};
  for (const std::string& name : names)
    for (const char* port : {"", ":8470", ":80", ":8471", ":08470", ":8470 "}) hosts.push_back(name + port);
  for (const char* ours : {"localhost", "127.0.0.1", "[::1]"})
    for (const char* port :
         {"", ":", ":80", ":443", ":8471", ":847", ":84700", ":08470", ":8470:8470", ":8470/", " :8470"})
      hosts.push_back(std::string(ours) + port);
  return hosts;
}

// RELIABILITY 19: Host is compared as a whole.
TEST(Guard, ForeignHostsAreRefused) {
  const Guard guard("127.0.0.1", 8470, "");
  const std::vector<std::string> hosts = foreign_hosts();
  EXPECT_GE(std::set<std::string>(hosts.begin(), hosts.end()).size(), 200U);
  for (const std::string& host : hosts) EXPECT_EQ(status_of(guard, from(host)), 421) << host;
}

TEST(Guard, LoopbackNamesAreOurs) {
  const Guard guard("127.0.0.1", 8470, "");
  for (const char* host : {"127.0.0.1:8470", "localhost:8470", "LocalHost:8470", "[::1]:8470"})
    EXPECT_EQ(status_of(guard, from(host)), 200) << host;
  EXPECT_EQ(status_of(Guard("127.0.0.1", 80, ""), from("localhost")), 200);
}

TEST(Guard, OriginIsComparedAsAWhole) {
  const Guard guard("127.0.0.1", 8470, "");
  Request request = from("localhost:8470");
  for (const char* origin :
       {"null", "http://localhost", "https://localhost:8470", "http://localhost:84700",
        "http://localhost:8470.example.com", "http://127.0.0.1:8470", "http://example.com", "http://localhost:8470/",
        "localhost:8470", "http://example.com/http://localhost:8470", "http://localhost:8470 http://example.com"}) {
    request.origin = origin;
    EXPECT_EQ(status_of(guard, request), 403) << origin;
  }
  request.origin = "http://localhost:8470";
  EXPECT_EQ(status_of(guard, request), 200);
}

TEST(Guard, OtherSitesMayLinkToThePageAndNothingElse) {
  const Guard guard("127.0.0.1", 8470, "");
  Request request = from("localhost:8470");
  request.fetch_site = "cross-site";
  for (const char* mode : {"cors", "no-cors", "same-origin", "websocket", ""}) {
    request.fetch_mode = mode;
    EXPECT_EQ(status_of(guard, request), 403) << mode;
  }
  request.fetch_mode = "navigate";
  EXPECT_EQ(status_of(guard, request), 200);
}

TEST(Guard, BeyondLoopbackEverythingNeedsTheToken) {
  const std::string token = make_token();
  const Guard guard("192.168.1.5", 8470, token);
  Request request = from("192.168.1.5:8470");
  EXPECT_EQ(status_of(guard, request), 403);
  for (const std::string& cookie :
       {std::string("mneme_token="), "mneme_token=" + token.substr(1), "mneme_token=" + token + "a",
        "xmneme_token=" + token, "mneme_token=" + std::string(token.size(), 'a')}) {
    request.cookie = cookie;
    EXPECT_EQ(status_of(guard, request), 403) << cookie;
  }
  request.cookie = "a=b; mneme_token=" + token + "; c=d";
  EXPECT_EQ(status_of(guard, request), 200);
  request.cookie.clear();
  request.authorization = "Bearer " + token;
  EXPECT_EQ(status_of(guard, request), 200);
  request.authorization.clear();

  // The printed address changes the token for a cookie that scripts cannot read.
  request.query = {{"token", token}};
  const auto answer = guard.refusal(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  const std::string head = head_of(*answer, true);
  EXPECT_NE(head.find("Set-Cookie: mneme_token=" + token + "; HttpOnly; SameSite=Strict"), std::string::npos) << head;
  EXPECT_NE(head.find("Location: /\r\n"), std::string::npos);
  // Only at the page itself.
  request.path = {"api", "v1", "lab"};
  EXPECT_EQ(status_of(guard, request), 403);
}

TEST(Guard, AllAddressesMeansAnyHostInDigits) {
  const Guard guard("0.0.0.0", 8470, "t");
  Request request = from("10.1.2.3:8470");
  request.authorization = "Bearer t";
  EXPECT_EQ(status_of(guard, request), 200);
  for (const char* host : {"example.com:8470", "10.1.2.3", "10.1.2.3:80", "10.1.2:8470", "[fe80]:8470"}) {
    request.host = host;
    EXPECT_EQ(status_of(guard, request), 421) << host;
  }
}

TEST(Guard, TokensAreLongAndNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 1000U);
  EXPECT_EQ(tokens.begin()->size(), 43U);
}

TEST(Guard, KnowsLoopback) {
  for (const char* address : {"127.0.0.1", "127.9.8.7", "::1"}) EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"0.0.0.0", "::", "192.168.0.1", "localhost", "", "127.0.0.1.example.com", "1270.0.1"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

TEST(Answers, HaveAStrictPolicyAndNoFieldOfCors) {
  const std::string head = head_of(error_answer(404, "x"), true);
  EXPECT_NE(head.find("script-src 'self';"), std::string::npos);
  EXPECT_EQ(head.find("unsafe-eval"), std::string::npos);
  EXPECT_NE(head.find("nosniff"), std::string::npos);
  EXPECT_NE(head.find("Cross-Origin-Resource-Policy: same-origin"), std::string::npos);
  EXPECT_EQ(head.find("Access-Control"), std::string::npos);
}

}  // namespace
}  // namespace mneme::serve
