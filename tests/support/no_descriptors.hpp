// Leaves this process without a free descriptor while it lives: what a listener meets when too many have come. One at a
// time; whatever a test needs a descriptor for is opened before it, or takes the place of one that is given back. What
// is found out meanwhile is checked afterwards: the sanitizer opens a pipe when it meets a class for the first time.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <vector>

#include "base/check.hpp"
#include "tests/support/open_file_limit.hpp"

namespace tidepool::test {

class NoDescriptors {
 public:
  NoDescriptors() {
    limit_.set_soft(256);
    for (int number = 0; (number = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(number);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() {
    for (const int number : taken_) ::close(number);
  }

  void give_back_one() {
    ::close(taken_.back());
    taken_.pop_back();
  }

 private:
  OpenFileLimit limit_;
  std::vector<int> taken_;
};

// The sanitizer opens a pipe when it meets a class for the first time, and takes one that it cannot look at for broken:
// what a failed accept touches is met by this before.
inline void meet_classes_of_failures() {
  TP_CHECK(!boost::system::error_code(EMFILE, boost::system::system_category()).message().empty(),
           "every error has a message");
  boost::asio::io_context io;
  boost::asio::steady_timer pause(io, std::chrono::milliseconds(1));
  pause.async_wait([](boost::system::error_code) {});
  io.run();
}

}  // namespace tidepool::test
