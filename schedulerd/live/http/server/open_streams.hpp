// Which answers stay open: event streams and followed logs. Rule: a token has a few of them, and all together leave
// half of the connections to requests, so that a client with many does not keep others out. I/O thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedulerd/live/http/server/http_server.hpp"
#include "schedulerd/live/http/server/problem.hpp"

namespace tidepool::live::http {

class OpenStreams {
 public:
  struct Limits {
    std::size_t all = 0;
    std::size_t per_token = 0;
  };
  explicit OpenStreams(const Limits& limits) : limits_(limits) {}

  // Why the token cannot have one more now; none: it can.
  [[nodiscard]] std::optional<Problem> why_no_more(const std::string& token_id);
  // Counts until it is closed.
  void add(const std::string& token_id, const std::shared_ptr<StreamWriter>& writer);

 private:
  struct Held {
    std::string token_id;
    std::weak_ptr<StreamWriter> writer;
  };
  Limits limits_;
  std::vector<Held> held_;
};

}  // namespace tidepool::live::http
