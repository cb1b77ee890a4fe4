// One end of a pipe whose other end a process holds: nothing is ever written into it, and it becomes readable when that
// process is gone, however it ended.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "base/result.hpp"

namespace tidepool::agent {

class Lifeline {
 public:
  explicit Lifeline(boost::asio::io_context& io) : end_(io) {}

  // Takes the descriptor over; `on_gone` is called once.
  [[nodiscard]] Status watch(int descriptor, std::function<void()> on_gone);

 private:
  boost::asio::posix::stream_descriptor end_;
};

}  // namespace tidepool::agent
