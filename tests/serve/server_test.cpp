// The real server on a real port.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <optional>
#include <thread>

#include "serve/http_client.h"
#include "serve/limits.h"
#include "store/run_writer.h"
#include "store/sample_lab.h"
#include "support/expect_error.h"
#include "support/slow.h"

namespace mneme::serve {
namespace {

namespace fs = std::filesystem;
using testing::get_request;
using ::testing::HasSubstr;
using testing::HttpAnswer;
using testing::HttpClient;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run = sample.add_done();
    start({});
  }
  void TearDown() override { stop(); }

  void start(const ServerOptions& options) {
    server.emplace(sample.lab, options);
    thread = std::thread([this] { server->run(); });
  }
  void stop() {
    if (!server) return;
    server->stop();
    thread.join();
    server.reset();
  }

  HttpAnswer get(const std::string& target, const std::string& more = "") {
    HttpClient client(server->port());
    client.send(get_request(target, server->port(), more));
    return client.read_answer();
  }

  testing::SampleLab sample;
  std::string run;
  std::optional<Server> server;
  std::thread thread;
};

TEST_F(ServerTest, ServesThePageItsFilesAndTheApi) {
  const HttpAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("<meta name=\"mneme\" content=\"live\">"));
  EXPECT_THAT(page.field("Content-Security-Policy"), HasSubstr("default-src 'none'; script-src 'self'"));
  EXPECT_EQ(get("/app.js").field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/app.css").status, 200);
  EXPECT_EQ(get("/api/v1/lab").json()["runs"]["total"], 1);
  EXPECT_EQ(get("/api/v1/runs/" + run).json()["id"], run);
  for (const char* nowhere : {"/index.html", "/api", "/api/v2/lab", "/api/v1/", "/api/v1/lab/", "/favicon.ico"})
    EXPECT_EQ(get(nowhere).status, 404) << nowhere;
}

TEST_F(ServerTest, OneConnectionCarriesManyRequests) {
  HttpClient client(server->port());
  const std::string request = get_request("/api/v1/lab", server->port());
  for (int i = 0; i < 100; ++i) {
    client.send(request);
    ASSERT_EQ(client.read_answer().status, 200);
  }
  client.send(request + request + request);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.read_answer().status, 200);
  client.send("HEAD /api/v1/lab HTTP/1.1\r\nHost: localhost:" + std::to_string(server->port()) + "\r\n\r\n");
  const HttpAnswer head = client.read_answer(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoi(head.field("Content-Length")), 100);
  client.send(request);
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(ServerTest, AnAnswerThatTheClientHasIsNotSentAgain) {
  const HttpAnswer first = get("/api/v1/runs");
  ASSERT_FALSE(first.field("ETag").empty());
  const HttpAnswer again = get("/api/v1/runs", "If-None-Match: " + first.field("ETag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

TEST_F(ServerTest, RefusesForeignHostsOriginsAndMethods) {
  const auto ask = [&](const std::string& bytes) {
    HttpClient client(server->port());
    client.send(bytes);
    return client.read_answer().status;
  };
  const std::string port = std::to_string(server->port());
  EXPECT_EQ(ask("GET /api/v1/lab HTTP/1.1\r\nHost: rebound.example.com:" + port + "\r\n\r\n"), 421);
  EXPECT_EQ(ask("GET /api/v1/lab HTTP/1.1\r\nHost: localhost\r\n\r\n"), 421);
  EXPECT_EQ(get("/api/v1/lab", "Origin: http://example.com\r\n").status, 403);
  EXPECT_EQ(get("/api/v1/lab", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n").status, 403);
  EXPECT_EQ(ask("DELETE /api/v1/runs/" + run + " HTTP/1.1\r\nHost: localhost:" + port + "\r\n\r\n"), 405);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(ask("\r\n\r\n\x16\x03\x01 nonsense\r\n\r\n"), 400);
  EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + std::string(100000, 'x')), 413);
  EXPECT_EQ(ask("GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n"), 431);
  EXPECT_EQ(get("/api/v1/lab").status, 200);
}

// A change on the disk is told within two seconds; also to one who comes right after a request, when the lab has just
// been looked at and nobody was watching.
TEST_F(ServerTest, EventsTellOfAChangeInTime) {
  EXPECT_EQ(get("/api/v1/lab").status, 200);
  HttpClient client(server->port());
  client.send(get_request("/api/v1/events", server->port()));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(client.read_until("\n\n"), HasSubstr("retry: 1000"));
  EXPECT_THAT(client.read_until("\n\n"), HasSubstr("\"runs\":[]"));
  double worst = 0;
  for (int seed = 10; seed < 13; ++seed) {
    const auto start = Clock::now();
    const std::string id = sample.add_done({"train.seed=" + std::to_string(seed)});
    std::string event;
    while (event.find(id) == event.npos && seconds_since(start) < 10) event = client.read_until("\n\n");
    worst = std::max(worst, seconds_since(start));
    EXPECT_THAT(event, HasSubstr("event: change\n"));
    EXPECT_EQ(get("/api/v1/lab").json()["runs"]["total"], seed - 8);
  }
  EXPECT_LT(worst, 2);
  RecordProperty("worst", std::to_string(worst));
}

// RELIABILITY 22: 500 connections that send a byte now and then.
TEST_F(ServerTest, FiveHundredHalfRequestsDoNotStopAWholeOne) {
  std::list<HttpClient> slow;
  const std::string request = get_request("/api/v1/lab", server->port());
  for (int i = 0; i < 500; ++i)
    slow.emplace_back(server->port()).send(request.substr(0, 1 + static_cast<std::size_t>(i) % 30));
  double worst = 0;
  for (int i = 0; i < 20; ++i) {
    std::size_t number = 0;
    for (const HttpClient& one : slow)
      if (number++ % 20 == static_cast<std::size_t>(i)) one.send("a");
    const auto start = Clock::now();
    EXPECT_EQ(get("/api/v1/lab").status, 200);
    worst = std::max(worst, seconds_since(start));
  }
  EXPECT_LT(worst, 1);
  RecordProperty("worst", std::to_string(worst));
}

TEST_F(ServerTest, MoreConnectionsThanTheLimitPushOutTheOldest) {
  std::list<HttpClient> idle;
  for (std::size_t i = 0; i < kMostConnections + 50; ++i) idle.emplace_back(server->port());
  EXPECT_EQ(get("/api/v1/lab").status, 200);
  EXPECT_EQ(idle.front().read_until("never", 2), "") << "closed without an answer";
}

TEST_F(ServerTest, TooManyListenersAreTurnedAway) {
  std::list<HttpClient> listeners;
  for (std::size_t i = 0; i < kMostListeners; ++i) {
    listeners.emplace_back(server->port()).send(get_request("/api/v1/events", server->port()));
    EXPECT_THAT(listeners.back().read_until("\r\n\r\n"), HasSubstr("200 OK"));
  }
  EXPECT_EQ(get("/api/v1/events").status, 503);
  listeners.clear();
  // The places become free as soon as the server sees that the others are gone.
  int status = 503;
  for (int attempt = 0; attempt < 100 && status != 200; ++attempt) {
    HttpClient client(server->port());
    client.send(get_request("/api/v1/events", server->port()));
    status = client.read_answer(false).status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(ServerTest, AListenerThatDoesNotReadHoldsNobodyUp) {
  HttpClient deaf(server->port()), listening(server->port());
  for (HttpClient* one : {&deaf, &listening}) one->send(get_request("/api/v1/events", server->port()));
  listening.read_until("\n\n");
  sample.add_done({"train.seed=77"});
  EXPECT_THAT(listening.read_until("event: change\nid: 2"), HasSubstr("id: 2"));
}

TEST_F(ServerTest, StaysUpWhenTheLabIsDeletedOrARunIsDamaged) {
  write_file_atomically(sample.lab.run(run).path() / "summary.json", "{");
  HttpClient client(server->port());
  client.send(get_request("/api/v1/events", server->port()));
  Json lab;
  for (int attempt = 0; attempt < 100; ++attempt) {
    lab = get("/api/v1/lab").json();
    if (!lab["damaged"].empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_EQ(lab["damaged"].size(), 1U);
  EXPECT_EQ(get("/api/v1/runs/" + run).status, 404);
  fs::remove_all(sample.lab.root());
  for (int attempt = 0; attempt < 100; ++attempt) {
    lab = get("/api/v1/lab").json();
    if (!lab["trouble"].is_null()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(lab["trouble"].get<std::string>(), HasSubstr("is gone"));
  // Every view hears of it, also one that is opened now.
  EXPECT_THAT(client.read_until("is gone; showing its last known state\""), HasSubstr("\"trouble\":\"the lab"));
  HttpClient later(server->port());
  later.send(get_request("/api/v1/events", server->port()));
  EXPECT_THAT(later.read_until("is gone; showing its last known state\""), HasSubstr("\"trouble\":\"the lab"));
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(ServerTest, APortThatIsTakenIsAnError) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { Server(sample.lab, {.port = server->port()}); }),
              HasSubstr("is taken, expected a free one: --port N"));
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { Server(sample.lab, {.address = "example.com"}); }),
              HasSubstr("expected an address in digits"));
}

// RELIABILITY 18.
TEST_F(ServerTest, ListensOnLoopbackAndWithATokenElsewhere) {
  EXPECT_EQ(server->url(), "http://127.0.0.1:" + std::to_string(server->port()) + "/");
  stop();
  start({.address = "0.0.0.0", .token = "secret"});
  EXPECT_EQ(get("/").status, 403);
  EXPECT_EQ(get("/api/v1/lab").status, 403);
  EXPECT_EQ(get("/api/v1/events").status, 403);
  const HttpAnswer entry = get("/?token=secret");
  EXPECT_EQ(entry.status, 303);
  EXPECT_EQ(get("/api/v1/lab", "Cookie: mneme_token=secret\r\n").status, 200);
  EXPECT_EQ(get("/api/v1/lab", "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(get("/api/v1/lab?token=secret").status, 403) << "the token is for the page alone";
}

TEST_F(ServerTest, SlowClientIsTold408) {
  MNEME_SLOW_TEST();
  HttpClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: ");
  EXPECT_EQ(client.read_answer(true, 15).status, 408);
}

}  // namespace
}  // namespace mneme::serve
