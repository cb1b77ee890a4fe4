// What the handler of a request answers through, and what a connection is to it.
//
// A request is answered once: a channel that goes without an answer has status 500 sent. Any thread may answer; the
// connection hears of it on the I/O thread, or not at all once it or the server is gone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "schedulerd/live/http/server/http_server.hpp"
#include "schedulerd/live/http/server/listener.hpp"

namespace tidepool::live::http {

// A connection whose request awaits its answer. On the I/O thread only.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void answer(HttpResponse response) = 0;
  // In the place of an answer; what follows is as StreamWriter says.
  virtual void begin_stream(HttpResponse head) = 0;
  virtual bool push(std::shared_ptr<const std::string> piece) = 0;
  virtual void finish_stream() = 0;
  [[nodiscard]] virtual bool stream_open() const = 0;
  [[nodiscard]] virtual std::size_t queued() const = 0;
  virtual void call_when_drained(std::function<void()> callback) = 0;
  virtual void call_when_closed(std::function<void()> callback) = 0;
};

// Keeps neither of them alive.
[[nodiscard]] std::shared_ptr<Responder::Channel> make_answer_channel(const std::shared_ptr<Listener>& server,
                                                                      const std::shared_ptr<AnswerSink>& sink,
                                                                      std::string request_id);

}  // namespace tidepool::live::http
