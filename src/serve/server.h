// The dashboard's HTTP server: pages and assets that are compiled in, answers from a picture of the lab, and a stream
// of its changes. It writes nothing, and no part of a request becomes a path.
//
// One thread does input and output for all connections; another one looks at the lab and makes answers, so that
// neither slow clients nor large answers hold up anybody else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/files.h"
#include "store/lab.h"

namespace mneme::serve {

struct ServerOptions {
  std::string address = "127.0.0.1";  // in digits
  unsigned short port = 0;            // 0: any free one
  std::string token = {};             // "": none is asked for
  Path results = {};                  // kept results of the papers; "": none
};

class Server {
 public:
  // Reads the lab and listens. Throws Error(data) if there is no lab, Error(usage) for what is no address, Error(io) if
  // the port is taken.
  Server(const store::Lab& lab, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  unsigned short port() const;
  // "http://127.0.0.1:8470/", with the token if there is one.
  std::string url() const;

  // Serves until stop(), SIGINT or SIGTERM.
  void run();
  // From any thread.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mneme::serve
