// Live events to many readers over one subscription: SSE or NDJSON, resumable by event number. A
// stream first reads what it has missed from the journal, then gets what the loop publishes; one that
// falls behind goes back to the journal, so a burst costs no memory, and one that stops reading is cut
// by the server's write deadline. Reading the journal takes turns with other requests, a page each. Nothing is left out
// silently: if events are no longer kept, the stream ends in a "reset", after which a reader lists again. I/O thread
// only, but for is_heard().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "schedulerd/live/http/authenticator.hpp"
#include "schedulerd/live/http/metrics.hpp"
#include "schedulerd/live/http/server/http_server.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

struct StreamRequest {
  EventSeq after = 0;
  std::optional<JobId> job;
  std::optional<NodeId> node = {};  // not beside `job`
  Caller caller;
  bool ndjson = false;
};

class EventStreams {
 public:
  struct Parts {
    Service& service;
    Authenticator& authenticator;
    Metrics& metrics;
    std::function<void(std::function<void()>)> later;  // runs a piece of work on the I/O thread, after what waits there
  };
  explicit EventStreams(Parts parts) : parts_(std::move(parts)) {}

  void open(std::shared_ptr<StreamWriter> writer, StreamRequest request);
  // A batch of new events, in order.
  void publish(const std::vector<core::Event>& events);
  // Thread-safe. False: no stream is open, and one that is opened later finds in the journal what is durable now.
  [[nodiscard]] bool is_heard() const { return is_heard_; }
  // To be called every heartbeat period: keeps idle connections alive and ends those whose token expired.
  void beat();
  // Ends the streams of a revoked token.
  void drop_token(const std::string& token_id);

 private:
  struct Client;
  void catch_up(const std::shared_ptr<Client>& client);
  void deliver(Client& client, const core::Event& event);
  void reset(Client& client, EventSeq oldest, EventSeq latest);
  void forget_closed();

  Parts parts_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::atomic<bool> is_heard_ = false;
};

}  // namespace tidepool::live::http
