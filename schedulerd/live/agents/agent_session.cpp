#include "schedulerd/live/agents/agent_session.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace tidepool::live {
namespace {

// An agent that does not read is cut off; after its return it is told what it missed.
constexpr std::size_t kOutgoingBytesMax = 64U << 20U;
constexpr std::size_t kToldOfLine = 120;

}  // namespace

void AgentSession::start() {
  if (!link_.secured()) return read();
  link_.async_serve([self = shared_from_this()](boost::system::error_code failed) {
    if (self->closed_) return;
    if (failed) return self->close("no TLS with this agent: " + self->link_.explain(failed));
    self->read();
  });
}

void AgentSession::read() {
  link_.async_read_some(
      boost::asio::buffer(chunk_), [self = shared_from_this()](boost::system::error_code failed, std::size_t count) {
        if (self->closed_) return;
        const bool ended = failed == boost::asio::error::eof || failed == boost::asio::ssl::error::stream_truncated;
        if (failed) return self->close(ended ? "the agent closed the link" : failed.message());
        if (auto fits = self->lines_.append({self->chunk_.data(), count}); !fits.ok()) {
          return self->close(fits.error().message);
        }
        self->handle_lines();
      });
}

void AgentSession::handle_lines() {
  const auto keep = shared_from_this();
  std::string line;
  while (!held_ && !closed_ && !closing_ && lines_.next(line)) {
    auto message = api::decode_agent_to_daemon(line);
    if (!message.ok()) {
      send(api::AgentRefuse{message.error().message});
      return close_after_sending("refused: " + message.error().message);
    }
    silent_ticks = 0;
    handlers_.on_message(*this, *std::move(message));
  }
  if (!held_ && !closed_ && !closing_) read();
}

void AgentSession::release() {
  if (!std::exchange(held_, false) || closed_) return;
  handle_lines();
}

void AgentSession::send(const api::DaemonToAgent& message) {
  if (closed_ || closing_) return;
  const std::string line = api::encode(message);
  if (line.size() > api::kLineBytesMax) {  // the agent would close its link at it, and get it again on the next one
    return spdlog::error("event=message_too_long bytes={} begins={:?}", line.size(), line.substr(0, kToldOfLine));
  }
  waiting_ += line;
  if (waiting_.size() + writing_.size() > kOutgoingBytesMax) return close("the agent does not read what it is sent");
  if (writing_.empty()) write();
}

void AgentSession::write() {
  writing_ = std::exchange(waiting_, {});
  boost::asio::async_write(link_, boost::asio::buffer(writing_),
                           [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
                             self->writing_.clear();
                             if (self->closed_) return;
                             if (failed) return self->close(failed.message());
                             if (!self->waiting_.empty()) return self->write();
                             if (self->closing_) self->close(self->why_closing_);
                           });
}

void AgentSession::close_after_sending(std::string why) {
  closing_ = true;
  why_closing_ = std::move(why);
  if (writing_.empty()) close(why_closing_);
}

void AgentSession::close(const std::string& why) {
  if (std::exchange(closed_, true)) return;
  const auto keep = shared_from_this();
  boost::system::error_code ignored;
  link_.next_layer().close(ignored);
  handlers_.on_closed(*this, why);
}

}  // namespace tidepool::live
