#include "schedulerd/live/http/server/answer_channel.hpp"

#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <utility>

#include "base/check.hpp"

namespace tidepool::live::http {
namespace {

class SinkStream final : public StreamWriter {
 public:
  explicit SinkStream(const std::shared_ptr<AnswerSink>& sink) : sink_(sink) {}
  ~SinkStream() override { SinkStream::finish(); }
  SinkStream(const SinkStream&) = delete;
  SinkStream& operator=(const SinkStream&) = delete;

  using StreamWriter::write;
  bool write(std::shared_ptr<const std::string> piece) override {
    const auto sink = sink_.lock();
    return sink && sink->push(std::move(piece));
  }
  void finish() override {
    if (const auto sink = sink_.lock()) sink->finish_stream();
  }
  [[nodiscard]] bool open() const override {
    const auto sink = sink_.lock();
    return sink && sink->stream_open();
  }
  [[nodiscard]] std::size_t queued() const override {
    const auto sink = sink_.lock();
    return sink ? sink->queued() : 0;
  }
  void on_drained(std::function<void()> callback) override {
    if (const auto sink = sink_.lock()) sink->call_when_drained(std::move(callback));
  }
  void on_closed(std::function<void()> callback) override {
    if (const auto sink = sink_.lock()) sink->call_when_closed(std::move(callback));
  }

 private:
  std::weak_ptr<AnswerSink> sink_;
};

// Any thread may call send(); it finds the I/O thread by itself, or does nothing once the server is gone.
class SinkChannel final : public Responder::Channel {
 public:
  SinkChannel(const std::shared_ptr<Listener>& server, const std::shared_ptr<AnswerSink>& sink, std::string request_id)
      : server_(server), sink_(sink), request_id_(std::move(request_id)) {}
  ~SinkChannel() override {
    if (answered_.exchange(true)) return;
    const auto server = server_.lock();
    if (server) deliver(server->refuser({500, "Internal", "the daemon failed on this request"}, request_id_));
  }
  SinkChannel(const SinkChannel&) = delete;
  SinkChannel& operator=(const SinkChannel&) = delete;

  void send(HttpResponse response) override {
    TP_CHECK(!answered_.exchange(true), "a request is answered once");
    deliver(std::move(response));
  }
  std::shared_ptr<StreamWriter> stream(HttpResponse head) override {
    TP_CHECK(!answered_.exchange(true), "a request is answered once");
    const auto sink = sink_.lock();
    if (sink) sink->begin_stream(std::move(head));
    return std::make_shared<SinkStream>(sink);
  }

 private:
  void deliver(HttpResponse response) {
    const auto server = server_.lock();
    if (!server) return;
    asio::dispatch(server->io, [weak = sink_, response = std::move(response)]() mutable {
      if (const auto sink = weak.lock()) sink->answer(std::move(response));
    });
  }

  std::weak_ptr<Listener> server_;
  std::weak_ptr<AnswerSink> sink_;
  std::string request_id_;
  std::atomic<bool> answered_{false};
};

}  // namespace

std::shared_ptr<Responder::Channel> make_answer_channel(const std::shared_ptr<Listener>& server,
                                                        const std::shared_ptr<AnswerSink>& sink,
                                                        std::string request_id) {
  return std::make_shared<SinkChannel>(server, sink, std::move(request_id));
}

}  // namespace tidepool::live::http
