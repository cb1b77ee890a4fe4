#include "workers/agent/line_stream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace tidepool::agent {

namespace asio = boost::asio;
using boost::system::error_code;

LineStream::LineStream(Stream stream, std::size_t unsent_max, std::size_t line_max)
    : stream_(std::move(stream)), unsent_max_(unsent_max), incoming_(line_max) {}

void LineStream::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  read_more();
}

void LineStream::read_more() {
  stream_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code error, std::size_t got) {
    if (self->closed_) return;
    if (error) {
      const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
      self->close(ended ? "the other side closed the link" : error.message());
      return;
    }
    if (const auto status = self->incoming_.append({self->buffer_.data(), got}); !status.ok()) {
      self->close(status.error().message);
      return;
    }
    std::string line;
    while (!self->closed_ && self->incoming_.next(line)) self->handlers_.on_line(line);
    if (!self->closed_) self->read_more();
  });
}

void LineStream::send(std::string line) {
  if (closed_ || finishing_ || half_closing_) return;
  unsent_bytes_ += line.size();
  if (unsent_bytes_ > unsent_max_) {
    close("the other side does not read: " + std::to_string(unsent_bytes_) + " bytes wait for it");
    return;
  }
  unsent_.push_back(std::move(line));
  if (unsent_.size() == 1) write_more();
}

void LineStream::write_more() {
  asio::async_write(stream_, asio::buffer(unsent_.front()), [self = shared_from_this()](error_code error, std::size_t) {
    if (self->closed_) return;
    if (error) {
      self->close(error.message());
      return;
    }
    self->unsent_bytes_ -= self->unsent_.front().size();
    self->unsent_.pop_front();
    if (!self->unsent_.empty()) {
      self->write_more();
    } else {
      self->flushed();
    }
  });
}

void LineStream::finish(std::string why) {
  if (closed_ || finishing_) return;
  finishing_ = true;
  finish_why_ = std::move(why);
  if (unsent_.empty()) flushed();
}

void LineStream::finish_sending() {
  if (closed_ || half_closing_) return;
  half_closing_ = true;
  if (unsent_.empty()) flushed();
}

void LineStream::flushed() {
  error_code ignored;
  if (finishing_) {
    close(finish_why_);
  } else if (half_closing_) {
    socket().shutdown(Socket::shutdown_send, ignored);
  }
}

void LineStream::close(std::string why) {
  if (std::exchange(closed_, true)) return;
  error_code ignored;
  socket().close(ignored);
  if (!handlers_.on_closed) return;
  asio::post(stream_.get_executor(), [self = shared_from_this(), why = std::move(why)] {
    // Moved out first: the handlers own the owner, which may release this stream.
    const auto handlers = std::exchange(self->handlers_, {});
    handlers.on_closed(why);
  });
}

}  // namespace tidepool::agent
