#include "serve/request_reader.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace mneme::serve {
namespace {

using State = RequestReader::State;

// What becomes of these bytes: 200 for a request that is taken, 0 for one that is not whole yet.
int status_of(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  RequestReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size() - at)) {
    reader.feed(bytes.substr(at, piece));
    if (reader.state() == State::done) return 200;
    if (reader.state() == State::refused) return reader.status();
  }
  return 0;
}

const std::string kGood =
    "GET /api/v1/runs?filter=lr%3E1e-3&filter=mixer%3Da+b HTTP/1.1\r\nHost: localhost:8470\r\n"
    "Origin: http://localhost:8470\r\nCookie: a=b\r\nIf-None-Match: \"x\"\r\nSec-Fetch-Site: same-origin\r\n\r\n";

TEST(RequestReader, TakesARequestApart) {
  RequestReader reader;
  ASSERT_EQ(reader.feed(kGood), State::done);
  const Request request = reader.take();
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, (std::vector<std::string>{"api", "v1", "runs"}));
  EXPECT_EQ(request.all("filter"), (std::vector<std::string>{"lr>1e-3", "mixer=a b"}));
  EXPECT_EQ(request.first("none"), "");
  EXPECT_EQ(request.host, "localhost:8470");
  EXPECT_EQ(request.origin, "http://localhost:8470");
  EXPECT_EQ(request.cookie, "a=b");
  EXPECT_EQ(request.if_none_match, "\"x\"");
  EXPECT_EQ(request.fetch_site, "same-origin");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(reader.state(), State::waiting);
}

TEST(RequestReader, ManyRequestsInOnePieceComeOneAfterTheOther) {
  RequestReader reader;
  reader.feed(kGood + "GET /b HTTP/1.0\r\nHost: b\r\n\r\nGET /c HT");
  EXPECT_EQ(reader.take().path.front(), "api");
  ASSERT_EQ(reader.state(), State::done);
  const Request second = reader.take();
  EXPECT_EQ(second.path.front(), "b");
  EXPECT_FALSE(second.keep_alive);
  EXPECT_EQ(reader.state(), State::begun);
  EXPECT_EQ(reader.feed("TP/1.1\r\nHost: c\r\n\r\n"), State::done);
  EXPECT_EQ(reader.take().path.front(), "c");
}

struct Malformed {
  const char* name;
  std::string bytes;
  int status;
};

std::vector<Malformed> malformed() {
  const std::string get = "GET / HTTP/1.1\r\n", host = "Host: localhost\r\n", end = "\r\n";
  using namespace std::string_literals;
  return {
      {"length and encoding", get + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" + end, 400},
      {"encoding and length", get + host + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n" + end, 400},
      {"two lengths", get + host + "Content-Length: 4\r\nContent-Length: 5\r\n" + end, 400},
      {"negative length", get + host + "Content-Length: -1\r\n" + end, 400},
      {"length with a sign", get + host + "Content-Length: +1\r\n" + end, 400},
      {"length beyond 64 bits", get + host + "Content-Length: 99999999999999999999999\r\n" + end, 400},
      {"length in words", get + host + "Content-Length: four\r\n" + end, 400},
      {"bare LF after the line", "GET / HTTP/1.1\n" + host + end, 400},
      {"bare LF after a field", get + "Host: localhost\n" + end, 400},
      {"bare CR in a field", get + "Host: local\rhost\r\n" + end, 400},
      {"NUL in the target", "GET /\0a HTTP/1.1\r\n"s + host + end, 400},
      {"NUL in a value", get + "Host: a\0b\r\n"s + end, 400},
      {"NUL in a name", get + "Ho\0st: a\r\n"s + end, 400},
      {"space before the colon", get + "Host : a\r\n" + end, 400},
      {"field without a name", get + host + ": a\r\n" + end, 400},
      {"field without a colon", get + host + "abc\r\n" + end, 400},
      {"no Host", get + end, 400},
      {"two Hosts", get + host + host + end, 400},
      {"absolute target", "GET http://localhost/ HTTP/1.1\r\n" + host + end, 400},
      {"authority", "CONNECT localhost:80 HTTP/1.1\r\n" + host + end, 400},
      {"asterisk", "OPTIONS * HTTP/1.1\r\n" + host + end, 400},
      {"no target", "GET  HTTP/1.1\r\n" + host + end, 400},
      {"no method", " / HTTP/1.1\r\n" + host + end, 400},
      {"space in the target", "GET /a b HTTP/1.1\r\n" + host + end, 400},
      {"half a percent code", "GET /%2 HTTP/1.1\r\n" + host + end, 400},
      {"a percent code of letters", "GET /%zz HTTP/1.1\r\n" + host + end, 400},
      {"half a percent code in the query", "GET /?a=%4 HTTP/1.1\r\n" + host + end, 400},
      {"fragment", "GET /#a HTTP/1.1\r\n" + host + end, 400},
      {"version 2", "GET / HTTP/2.0\r\n" + host + end, 400},
      {"version 0.9", "GET /\r\n\r\n", 400},
      {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", 400},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11).append(64, 'x'), 400},
      {"bytes beyond ASCII in the target", "GET /\xff HTTP/1.1\r\n" + host + end, 400},
      {"a body", "POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\n\r\nabcd", 413},
      {"a large body", "POST / HTTP/1.1\r\n" + host + "Content-Length: 4000000000\r\n" + end, 413},
      {"a body in chunks", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
       413},
      {"long target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + host + end, 431},
      {"long value", get + host + "A: " + std::string(9000, 'a') + "\r\n" + end, 431},
      {"a line without an end", "GET /" + std::string(9000, 'a'), 431},
      {"many fields",
       get + host +
           [] {
             std::string fields;
             for (int i = 0; i < 2000; ++i) fields += "A: b\r\n";
             return fields;
           }() +
           end,
       431},
  };
}

// RELIABILITY 16: 40 malformed requests, each in one piece, byte by byte, and in threes.
TEST(RequestReader, MalformedRequestsAreRefusedByName) {
  for (const Malformed& one : malformed())
    for (const std::size_t piece : {std::string_view::npos, std::size_t{1}, std::size_t{3}})
      EXPECT_EQ(status_of(one.bytes, piece), one.status) << one.name << ", pieces of " << piece;
  EXPECT_EQ(malformed().size(), 40U);
}

TEST(RequestReader, EveryBeginningOfARequestIsUnfinished) {
  for (std::size_t size = 0; size < kGood.size(); ++size)
    EXPECT_EQ(status_of(std::string_view(kGood).substr(0, size)), 0) << size;
  EXPECT_EQ(status_of(kGood), 200);
}

// A seeded share of what tests/fuzz/request_fuzz.cpp does without end: mutated requests are taken or refused, and how
// the bytes are cut makes no difference.
TEST(RequestReader, MutatedRequestsAreTakenOrRefusedHoweverTheyAreCut) {
  std::vector<std::string> seeds = {kGood};
  for (const Malformed& one : malformed())
    if (one.bytes.size() < 400) seeds.push_back(one.bytes);
  int taken = 0, refused = 0, unfinished = 0;
  for (std::uint64_t round = 0; round < 20000; ++round) {
    Random random(20, round);
    std::string bytes = random.below(2) == 0 ? kGood : seeds[random.below64(seeds.size())];
    for (std::uint64_t edit = random.below(4) + 1; edit > 0 && !bytes.empty(); --edit) {
      const std::size_t at = random.below64(bytes.size());
      switch (random.below(5)) {
        case 0: bytes[at] = static_cast<char>(random.below(256)); break;
        case 1: bytes.erase(at, random.below(8) + 1); break;
        case 2: bytes.insert(at, 1, "\r\n :%/?&\0\t"[random.below(10)]); break;
        case 3: bytes.insert(at, bytes.substr(random.below64(bytes.size()), random.below(40))); break;
        case 4: bytes.resize(at); break;
      }
    }
    const int whole = status_of(bytes);
    EXPECT_EQ(status_of(bytes, 1), whole) << testing::PrintToString(bytes);
    EXPECT_EQ(status_of(bytes, random.below(20) + 1), whole) << testing::PrintToString(bytes);
    EXPECT_TRUE(whole == 0 || whole == 200 || whole == 400 || whole == 413 || whole == 431) << whole;
    ++(whole == 0 ? unfinished : whole == 200 ? taken : refused);
  }
  // The seeds are near enough to real requests that all three happen.
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(unfinished, 100);
}

}  // namespace
}  // namespace mneme::serve
