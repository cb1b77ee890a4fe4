#include "workers/agent/lifeline.hpp"

#include <fcntl.h>

#include <utility>

#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {

Status Lifeline::watch(int descriptor, std::function<void()> on_gone) {
  if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return errno_error("watch the descriptor of --lifeline");
  boost::system::error_code failed;
  end_.assign(descriptor, failed);
  if (failed) return io_error("cannot watch the descriptor of --lifeline: " + failed.message());
  end_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                  [on_gone = std::move(on_gone)](boost::system::error_code error) {
                    if (!error) on_gone();
                  });
  return ok_status();
}

}  // namespace tidepool::agent
