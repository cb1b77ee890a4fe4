// One connection over Beast: heads, bodies, answers and open streams. The only translation unit of the daemon that
// includes Beast, because that costs half a minute to compile.
#include <spdlog/spdlog.h>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "schedulerd/live/http/server/answer_channel.hpp"
#include "schedulerd/live/http/server/listener.hpp"
#include "tls/stream.hpp"

namespace tidepool::live::http {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

constexpr std::size_t kBufferBytes = 16'384;     // one read; above the largest head and chunk header allowed
constexpr std::size_t kLingerBytes = 1U << 20U;  // read and thrown away after a refusal, so that the answer arrives

// One connection: read head, validate, read body, handle, answer, again.
class Session final : public Connection, public AnswerSink, public std::enable_shared_from_this<Session> {
 public:
  Session(Listener& server, tcp::socket socket, std::string address)
      : server_(&server),
        stream_(beast::tcp_stream(std::move(socket)), server.options.tls),
        address_(std::move(address)),
        write_deadline_(server.io) {}

  void run() override {
    socket().expires_after(to_chrono(server_->options.head_deadline));
    if (stream_.secured()) return agree_on_tls();
    read_head();
  }

  void wind_down() override {
    closing_ = true;
    if (streaming_) {
      finish_stream();
    } else if (!answering_) {
      close();
    }
  }

  void answer(HttpResponse response) override;
  void begin_stream(HttpResponse head) override;
  bool push(std::shared_ptr<const std::string> piece) override;
  void finish_stream() override;
  void close() override;

  [[nodiscard]] bool stream_open() const override { return streaming_ && !finishing_ && !closed_; }
  [[nodiscard]] std::size_t queued() const override { return queued_; }
  void call_when_drained(std::function<void()> callback) override { on_drained_ = std::move(callback); }
  void call_when_closed(std::function<void()> callback) override { on_closed_ = std::move(callback); }

 private:
  [[nodiscard]] beast::tcp_stream& socket() { return stream_.next_layer(); }
  void agree_on_tls();
  void read_head();
  void take_head(std::size_t head_size);
  void read_body();
  void body_read(error_code error);
  void send_continue();
  void hand_over();
  void refuse(const Refusal& refusal);
  void write_response(HttpResponse response, bool keep_alive);
  void write_some(bool keep_alive);
  void response_written(error_code error, bool keep_alive);
  void part();
  void half_close();
  void linger(std::size_t left);
  void watch_for_close();
  void write_piece();
  void begin_write();
  void piece_written(error_code error);
  Listener* server_;  // outlives every callback
  tls::Stream<beast::tcp_stream> stream_;
  std::string address_;
  beast::flat_buffer buffer_{2 * kBufferBytes};
  std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
  std::size_t chunk_extensions_ = 0;
  RequestHead head_;
  std::string request_id_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();  // when its head had come
  std::optional<bhttp::response<bhttp::string_body>> response_;
  std::optional<bhttp::response_serializer<bhttp::string_body>> serializer_;
  std::int64_t written_ = 0;  // bytes of the answer
  std::chrono::steady_clock::time_point write_begun_;
  bool answering_ = false;  // a request is with the handler or its answer is being written
  bool closing_ = false;    // no further request after this one
  bool closed_ = false;

  bool streaming_ = false;
  bool finishing_ = false;
  bool writing_ = false;
  std::optional<bhttp::response<bhttp::empty_body>> stream_head_;
  std::optional<bhttp::response_serializer<bhttp::empty_body>> head_serializer_;
  std::deque<std::shared_ptr<const std::string>> pieces_;
  std::size_t queued_ = 0;
  std::function<void()> on_drained_;
  std::function<void()> on_closed_;
  asio::steady_timer write_deadline_;
  std::array<char, 512> scratch_{};
};

// A client that is refused here gets no answer: none would be read by it.
void Session::agree_on_tls() {
  stream_.async_serve([self = shared_from_this()](error_code error) {
    if (!error) return self->read_head();
    if (!self->closed_) {
      spdlog::warn("event=http_tls_refused peer={} why={:?}", self->address_, self->stream_.explain(error));
    }
    self->close();
  });
}

// --- reading ------------------------------------------------------------------------------------

void Session::read_head() {
  const auto bytes = buffer_.data();
  const std::string_view seen(static_cast<const char*>(bytes.data()), bytes.size());
  const auto scanned = scan_head(seen, server_->options.limits);
  if (const auto* refusal = std::get_if<Refusal>(&scanned)) return refuse(*refusal);
  if (const auto size = std::get<std::size_t>(scanned); size > 0) return take_head(size);
  const bool first_byte_awaited = seen.empty();
  stream_.async_read_some(buffer_.prepare(kBufferBytes - bytes.size()),
                          [self = shared_from_this(), first_byte_awaited](error_code error, std::size_t size) {
                            if (error) return self->close();
                            self->buffer_.commit(size);
                            if (first_byte_awaited) {
                              self->socket().expires_after(to_chrono(self->server_->options.head_deadline));
                            }
                            self->read_head();
                          });
}

void Session::take_head(std::size_t head_size) {
  request_id_ = "req-" + std::to_string(server_->next_request++);
  begun_ = std::chrono::steady_clock::now();
  const auto& limits = server_->options.limits;
  const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), head_size);
  auto read = http::read_head(bytes, limits);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return refuse(*refusal);
  head_ = std::get<RequestHead>(std::move(read));
  if (const auto refusal = check_head(head_, server_->hosts, limits)) return refuse(*refusal);

  parser_.emplace();
  parser_->body_limit(limits.body_bytes);
  parser_->header_limit(kBufferBytes);  // the real limit has been held already
  chunk_extensions_ = 0;
  error_code error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  const bool agreed = !error && parser_->is_header_done() && parser_->chunked() == head_.chunked;
  if (!agreed) return refuse({400, "BadRequest", "the request cannot be read: " + error.message()});
  if (!head_.has_body()) return hand_over();
  if (!head_.first("expect").empty() && head_.version == 11) return send_continue();
  read_body();
}

void Session::send_continue() {
  response_.emplace(bhttp::status::continue_, 11);
  bhttp::async_write(stream_, *response_, [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->read_body();
  });
}

void Session::read_body() {
  socket().expires_after(to_chrono(server_->options.body_deadline));
  const auto limit_extensions = [this](std::uint64_t, beast::string_view extensions, error_code& error) {
    chunk_extensions_ += extensions.size();
    if (chunk_extensions_ > server_->options.limits.chunk_extension_bytes) error = bhttp::error::bad_chunk_extension;
  };
  // The parser keeps a reference to the callback, so it lives in the session's own callback.
  auto on_chunk =
      std::make_shared<std::function<void(std::uint64_t, beast::string_view, error_code&)>>(limit_extensions);
  parser_->on_chunk_header(*on_chunk);
  bhttp::async_read(stream_, buffer_, *parser_,
                    [self = shared_from_this(), on_chunk](error_code error, std::size_t) { self->body_read(error); });
}

void Session::body_read(error_code error) {
  if (!error) return hand_over();
  if (error == bhttp::error::body_limit) {
    const auto limit = std::to_string(server_->options.limits.body_bytes);
    return refuse({413, "BodyTooLarge", "the body is larger than " + limit + " bytes"});
  }
  const bool malformed = error.category() == make_error_code(bhttp::error::bad_chunk).category() &&
                         error != bhttp::error::partial_message && error != bhttp::error::end_of_stream;
  if (malformed) return refuse({400, "BadBody", "the body cannot be read: " + error.message()});
  close();
}

void Session::hand_over() {
  HttpRequest request;
  auto target = read_target(head_.target);
  if (const auto* refusal = std::get_if<Refusal>(&target)) return refuse(*refusal);
  request.method = head_.method;
  request.path = std::get<RequestTarget>(target).path;
  request.query = std::get<RequestTarget>(target).query;
  request.target = head_.target;
  for (const auto& [name, value] : head_.headers) {
    const auto [given, is_new] = request.headers.emplace(name, value);
    if (!is_new && is_list_header(name)) given->second += ", " + value;
  }
  request.body = std::move(parser_->get().body());
  request.peer = address_;
  request.request_id = request_id_;
  answering_ = true;
  socket().expires_never();
  server_->handler(std::move(request),
                   Responder(make_answer_channel(server_->shared_from_this(), shared_from_this(), request_id_)));
}

// --- answering ----------------------------------------------------------------------------------

void Session::answer(HttpResponse response) {
  const bool client_stays = head_.version == 11 ? !beast::iequals(head_.first("connection"), "close") : false;
  write_response(std::move(response), client_stays && !closing_);
}

void Session::refuse(const Refusal& refusal) {
  if (request_id_.empty()) request_id_ = "req-" + std::to_string(server_->next_request++);
  answering_ = true;
  write_response(server_->refuser(refusal, request_id_), false);
}

void Session::write_response(HttpResponse response, bool keep_alive) {
  response_.emplace(static_cast<bhttp::status>(response.status), 11);
  for (const auto& [name, value] : response.headers) response_->set(name, value);
  response_->set("X-Request-Id", request_id_);
  response_->body() = std::move(response.body);
  response_->keep_alive(keep_alive);
  response_->prepare_payload();
  serializer_.emplace(*response_);
  written_ = 0;
  write_begun_ = std::chrono::steady_clock::now();
  if (head_.method != "HEAD") return write_some(keep_alive);
  socket().expires_after(to_chrono(server_->options.write_deadline));
  bhttp::async_write_header(stream_, *serializer_,
                            [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
                              self->response_written(error, keep_alive);
                            });
}

// A reader has its time for each part, and for all of them as much as the lowest rate leaves: one that is slow gets a
// large answer whole, and one that takes a byte at a time does not hold it for ever.
void Session::write_some(bool keep_alive) {
  const auto& options = server_->options;
  const auto patience = to_chrono(options.write_deadline);
  const std::chrono::microseconds by_rate(written_ * 1'000'000 / options.write_rate_min);
  socket().expires_at(std::min(std::chrono::steady_clock::now(), write_begun_ + by_rate) + patience);
  bhttp::async_write_some(stream_, *serializer_,
                          [self = shared_from_this(), keep_alive](error_code error, std::size_t size) {
                            self->written_ += static_cast<std::int64_t>(size);
                            if (error || self->serializer_->is_done()) return self->response_written(error, keep_alive);
                            self->write_some(keep_alive);
                          });
}

void Session::response_written(error_code error, bool keep_alive) {
  answering_ = false;
  if (error) return close();
  if (server_->options.on_answered) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun_);
    server_->options.on_answered(static_cast<int>(response_->result_int()), Duration::micros(took.count()));
  }
  if (!keep_alive || closing_) {
    return part();
  }
  serializer_.reset();
  response_.reset();
  parser_.reset();
  head_ = {};
  request_id_.clear();
  const bool next_has_begun = buffer_.size() > 0;
  const auto& options = server_->options;
  socket().expires_after(to_chrono(next_has_begun ? options.head_deadline : options.idle_deadline));
  read_head();
}

// Says that no more comes and waits a little for the client to leave first.
void Session::part() {
  socket().expires_after(std::chrono::seconds(1));
  if (!stream_.secured()) return half_close();
  // Fails at once where the client still sends a body that was refused.
  stream_.async_shutdown([self = shared_from_this()](error_code) { self->half_close(); });
}

void Session::half_close() {
  if (closed_) return;
  error_code ignored;
  socket().socket().shutdown(tcp::socket::shutdown_send, ignored);
  linger(kLingerBytes);
}

// Reads what the client still sends, for a bounded while: closing at once would reset the connection
// and could take the answer away from the client. Below TLS, because its content is no matter.
void Session::linger(std::size_t left) {
  socket().async_read_some(asio::buffer(scratch_),
                           [self = shared_from_this(), left](error_code error, std::size_t size) {
                             if (error || size >= left) return self->close();
                             self->linger(left - size);
                           });
}

void Session::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();  // the listener lets go of it here
  socket().close();
  write_deadline_.cancel();
  pieces_.clear();
  queued_ = 0;
  if (auto callback = std::exchange(on_closed_, nullptr)) callback();
  on_drained_ = nullptr;
  server_->forget(this);
}

// --- streaming ----------------------------------------------------------------------------------

void Session::begin_stream(HttpResponse head) {
  streaming_ = true;
  stream_head_.emplace(static_cast<bhttp::status>(head.status), 11);
  for (const auto& [name, value] : head.headers) stream_head_->set(name, value);
  stream_head_->set("X-Request-Id", request_id_);
  stream_head_->keep_alive(false);
  if (head_.version == 11) stream_head_->chunked(true);
  head_serializer_.emplace(*stream_head_);
  begin_write();
  bhttp::async_write_header(stream_, *head_serializer_, [self = shared_from_this()](error_code error, std::size_t) {
    self->writing_ = false;
    if (error) return self->close();
    if (self->head_.method == "HEAD") self->finishing_ = true;
    self->write_piece();
  });
  watch_for_close();
}

// A client that goes away is noticed here, not at the next write.
void Session::watch_for_close() {
  stream_.async_read_some(asio::buffer(scratch_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->watch_for_close();
  });
}

bool Session::push(std::shared_ptr<const std::string> piece) {
  if (!stream_open()) return false;
  if (piece->empty() || head_.method == "HEAD") return true;
  const bool waits = queued_ > 0;  // a single piece may be larger than what may wait
  queued_ += piece->size();
  if (waits && queued_ > server_->options.stream_bytes) {
    close();
    return false;
  }
  pieces_.push_back(std::move(piece));
  if (!writing_) write_piece();
  return true;
}

void Session::finish_stream() {
  if (!streaming_ || finishing_) return;
  finishing_ = true;
  if (!writing_) write_piece();
}

// A client that reads nothing for so long is cut off.
void Session::begin_write() {
  writing_ = true;
  write_deadline_.expires_after(to_chrono(server_->options.write_deadline));
  write_deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->close();
  });
}

void Session::write_piece() {
  if (closed_) return;
  if (pieces_.empty() && !finishing_) {
    write_deadline_.cancel();
    const auto callback = on_drained_;  // which may close the session, and with it the callback
    if (callback) callback();
    return;
  }
  begin_write();
  auto done = [self = shared_from_this()](error_code error, std::size_t) { self->piece_written(error); };
  const bool chunked = head_.version == 11 && head_.method != "HEAD";
  if (!pieces_.empty() && chunked) {
    asio::async_write(stream_, bhttp::make_chunk(asio::buffer(*pieces_.front())), std::move(done));
  } else if (!pieces_.empty()) {
    asio::async_write(stream_, asio::buffer(*pieces_.front()), std::move(done));
  } else if (chunked) {
    asio::async_write(stream_, bhttp::make_chunk_last(), std::move(done));
  } else {
    asio::post(stream_.get_executor(), [done = std::move(done)]() mutable { done({}, 0); });
  }
}

void Session::piece_written(error_code error) {
  writing_ = false;
  if (error) return close();
  if (pieces_.empty()) {  // that was the end of the body
    if (stream_.secured()) {
      begin_write();
      return stream_.async_shutdown([self = shared_from_this()](error_code) { self->close(); });
    }
    error_code ignored;
    socket().socket().shutdown(tcp::socket::shutdown_send, ignored);
    return close();
  }
  queued_ -= pieces_.front()->size();
  pieces_.pop_front();
  write_piece();
}

}  // namespace

std::shared_ptr<Connection> make_connection(Listener& server, tcp::socket socket, std::string address) {
  return std::make_shared<Session>(server, std::move(socket), std::move(address));
}

}  // namespace tidepool::live::http
