// Looks now and then whether programs have written another line into their files (newest_line.hpp).
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

// Bytes that are told of what is wrong with a line, which may repeat what the program wrote.
inline constexpr std::size_t kToldOfLine = 200;

class LineWatch {
 public:
  using OnLines = std::function<void(WorkerId, const std::string& lines)>;  // as whole_lines()
  struct Look {
    std::chrono::milliseconds every;
    std::size_t bytes_max;  // of a file's end that are read
  };
  // `on_lines` may watch and forget.
  LineWatch(boost::asio::io_context& io, Look look, OnLines on_lines)
      : timer_(io), look_(look), on_lines_(std::move(on_lines)) {}

  // In the place of what was watched of the worker. A line that is there already counts.
  void watch(WorkerId worker, const std::filesystem::path& file);
  void forget(WorkerId worker) { watched_.erase(worker); }
  // The lines that were taken count once more.
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
