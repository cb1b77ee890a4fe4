// A byte stream that is plain or secured by TLS, so that the protocols on top of it are written once. It may be moved
// only while no operation on it is pending. One read and one write may be pending simultaneously, on one thread.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <string>
#include <utility>

#include "tls/handshake.hpp"

namespace tidepool::tls {

// `Next`: a connected stream of Boost.Asio or Beast.
template <class Next>
class Stream {
 public:
  using executor_type = typename Next::executor_type;

  // A null context: plain.
  explicit Stream(Next next, Context context = nullptr)
      : next_(std::make_unique<Next>(std::move(next))), context_(std::move(context)) {
    if (context_ != nullptr) tls_ = std::make_unique<Secured>(*next_, new_session(context_));
  }
  Stream(Stream&&) noexcept = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() = default;

  [[nodiscard]] executor_type get_executor() { return next_->get_executor(); }
  [[nodiscard]] Next& next_layer() { return *next_; }
  [[nodiscard]] bool secured() const { return tls_ != nullptr; }

  // Requires: secured(). On the client's side the server must prove that it is `host`.
  template <class Handler>
  void async_serve(Handler&& done) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(done));
  }
  template <class Handler>
  void async_connect(const std::string& host, Handler&& done) {
    expect_host(tls_->native_handle(), host);
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::forward<Handler>(done));
  }
  // Announces the end of the data to the other side, and waits until it has answered or closed.
  template <class Handler>
  void async_shutdown(Handler&& done) {
    tls_->async_shutdown(std::forward<Handler>(done));
  }
  // After the handshake, as PEM; empty = the other side presented none, or the link is plain.
  [[nodiscard]] std::string peer_certificate() { return secured() ? tls::peer_certificate(tls_->native_handle()) : ""; }
  [[nodiscard]] std::string explain(const boost::system::error_code& error) {
    return explain_handshake(error, tls_->native_handle());
  }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& done) {
    if (tls_ != nullptr) {
      tls_->async_read_some(buffers, std::forward<Handler>(done));
    } else {
      next_->async_read_some(buffers, std::forward<Handler>(done));
    }
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& done) {
    if (tls_ != nullptr) {
      tls_->async_write_some(buffers, std::forward<Handler>(done));
    } else {
      next_->async_write_some(buffers, std::forward<Handler>(done));
    }
  }

 private:
  using Secured = boost::asio::ssl::stream<Next&>;

  std::unique_ptr<Next> next_;
  Context context_;
  std::unique_ptr<Secured> tls_;
};

}  // namespace tidepool::tls
