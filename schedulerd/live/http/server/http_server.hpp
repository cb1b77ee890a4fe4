// The HTTP/1.1 transport: sockets, framing, deadlines and caps, with one I/O thread of its own. What
// reaches the handler has passed the strict validator (request_validator.hpp); after a request that
// has not, the connection is answered and closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/connection_cap.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/live/http/server/http_message.hpp"
#include "schedulerd/live/http/server/request_validator.hpp"
#include "tls/context.hpp"

namespace tidepool::live::http {

// A place to run small pieces of work on the I/O thread. Thread-safe. Work that throws is logged and dropped: the
// request that awaits its answer gets status 500, and no other is affected.
class IoScheduler {
 public:
  virtual ~IoScheduler() = default;
  virtual void post(std::function<void()> work) = 0;
  // Runs `work` once after `delay`, unless the server has stopped.
  virtual void after(Duration delay, std::function<void()> work) = 0;
};

// The open body of one response, sent piece by piece (SSE, NDJSON, followed logs). I/O thread only.
// A reader that lets more than HttpOptions::stream_bytes wait is cut off.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // False once the stream is closed, by either side.
  virtual bool write(std::shared_ptr<const std::string> piece) = 0;
  bool write(std::string piece) { return write(std::make_shared<const std::string>(std::move(piece))); }
  // Ends the body after what waits has been sent.
  virtual void finish() = 0;
  [[nodiscard]] virtual bool open() const = 0;
  // Bytes that wait to be sent.
  [[nodiscard]] virtual std::size_t queued() const = 0;
  // Called whenever everything written has been sent, and when the stream closes.
  virtual void on_drained(std::function<void()> callback) = 0;
  virtual void on_closed(std::function<void()> callback) = 0;
};

// Answers one request, once. Copies share the duty; if all are dropped without an answer the client
// gets status 500.
class Responder {
 public:
  class Channel {
   public:
    virtual ~Channel() = default;
    virtual void send(HttpResponse response) = 0;
    virtual std::shared_ptr<StreamWriter> stream(HttpResponse head) = 0;
  };
  explicit Responder(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

  // From any thread.
  void send(HttpResponse response) const { channel_->send(std::move(response)); }
  // Sends the head and leaves the body open. On the I/O thread only.
  [[nodiscard]] std::shared_ptr<StreamWriter> stream(HttpResponse head) const {
    return channel_->stream(std::move(head));
  }

 private:
  std::shared_ptr<Channel> channel_;
};

struct HttpOptions {
  std::string address = "127.0.0.1";       // another than one of loopback needs `tls`
  int port = 0;                            // 0 = any free port
  tls::Context tls;                        // null = plain
  std::vector<std::string> allowed_hosts;  // further "name" or "name:port" that Host may say, as it stands
  std::vector<std::string> names;          // further names of this daemon; Host may say them with its port
  HttpLimits limits;
  Duration head_deadline = Duration::seconds(10);
  Duration body_deadline = Duration::seconds(30);
  Duration write_deadline = Duration::seconds(30);  // in which a client that is sent something reads some of it
  std::int64_t write_rate_min = 16'384;  // bytes a second that it reads of an answer on the whole, from then on
  Duration idle_deadline = Duration::seconds(60);
  Duration stop_patience = Duration::seconds(2);  // for answers under way when stop() is called
  api::ConnectionCap::Limits connections{.all = 1'000, .kept_for_here = 100, .per_group = 256, .per_group_here = 768};
  std::size_t stream_bytes = 1U << 20U;
  // Called on the I/O thread after each answer with its status and the time since its request had come;
  // not for streams. May be empty.
  std::function<void(int status, Duration took)> on_answered;
  // Called on the I/O thread when a connection is turned away because there are too many. May be empty.
  std::function<void()> on_turned_away;
};

struct Listener;  // listener.hpp

class HttpServer final : public IoScheduler {
 public:
  // Called on the I/O thread; must not block.
  using Handler = std::function<void(HttpRequest, Responder)>;
  // Turns a refusal of the validator into a response body.
  using Refuser = std::function<HttpResponse(const Refusal&, const std::string& request_id)>;

  HttpServer(HttpOptions options, Handler handler, Refuser refuser);
  ~HttpServer() override;

  // Binds, starts the I/O thread and gives the base URL, "http://127.0.0.1:7480".
  [[nodiscard]] Result<std::string> start();
  // Accepts nothing more, lets answers under way go out for stop_patience, closes the rest. Idempotent.
  void stop();

  void post(std::function<void()> work) override;
  void after(Duration delay, std::function<void()> work) override;

 private:
  std::shared_ptr<Listener> listener_;
};

}  // namespace tidepool::live::http
