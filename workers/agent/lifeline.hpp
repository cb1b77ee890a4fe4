// One end of a pipe whose other end another process holds. Nothing is ever written to the pipe; it becomes readable
// when that process has ended, however it ended.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "base/result.hpp"

namespace tidepool::agent {

class Lifeline {
 public:
  explicit Lifeline(boost::asio::io_context& io) : end_(io) {}

  // Takes ownership of the descriptor; `on_gone` is called once.
  [[nodiscard]] Status watch(int descriptor, std::function<void()> on_gone);

 private:
  boost::asio::posix::stream_descriptor end_;
};

}  // namespace tidepool::agent
