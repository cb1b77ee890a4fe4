// Regularly checks whether programs have written another line into their files (newest_line.hpp).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/ids.hpp"

namespace tidepool::agent {

// Limit in bytes of a message about a bad line, which may repeat what the program wrote.
inline constexpr std::size_t kToldOfLine = 200;

class LineWatch {
 public:
  using OnLines = std::function<void(WorkerId, const std::string& lines)>;  // receives whole_lines()
  struct Look {
    std::chrono::milliseconds every;
    std::size_t bytes_max;  // bytes read from a file's end
  };
  // `on_lines` may call watch() and forget().
  LineWatch(boost::asio::io_context& io, Look look, OnLines on_lines)
      : timer_(io), look_(look), on_lines_(std::move(on_lines)) {}

  // Replaces what was watched for the worker. A line that is already there counts.
  void watch(WorkerId worker, const std::filesystem::path& file);
  void forget(WorkerId worker) { watched_.erase(worker); }
  // Passes the lines that were already taken once more.
  void take_again();

 private:
  struct Watched {
    std::filesystem::path file;
    std::string read;  // the lines that were taken
  };
  void look_later();
  void look(WorkerId worker, Watched& watched);

  boost::asio::steady_timer timer_;
  Look look_;
  OnLines on_lines_;
  bool looks_ = false;
  std::map<WorkerId, Watched> watched_;
};

}  // namespace tidepool::agent
