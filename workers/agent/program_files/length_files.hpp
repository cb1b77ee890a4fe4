// How long the work of a program is that is started anew at each size: it writes that into a file, and its agent tells
// the daemon as a program with the library does when it is ready. The newest whole line that is a length counts; the
// file is the program's, so it is read as newest_line.hpp says.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/worker_protocol.hpp"
#include "workers/agent/program_files/line_watch.hpp"

namespace tidepool::agent {

class LengthFiles {
 public:
  struct Handlers {
    std::function<void(WorkerId, api::ReadyMessage)> on_length;
    std::function<void(WorkerId, const std::string& sentence)> on_trouble;
  };
  LengthFiles(boost::asio::io_context& io, Handlers handlers,
              std::chrono::milliseconds every = std::chrono::seconds(1));

  // Looks at the file from now on, until the program has ended. What an earlier program has left there is removed.
  void start(WorkerId worker, const std::filesystem::path& file);
  // Of a program that an earlier agent has started.
  void adopt(WorkerId worker, const std::filesystem::path& file);
  void forget(WorkerId worker);
  // The daemon may not know what it was told: all are told again.
  void tell_again();

  // Of its file, in a folder that it may share with other workers of its job.
  [[nodiscard]] static std::string name_of(WorkerId worker) { return "tidepool-length-" + worker.text() + ".jsonl"; }

 private:
  void hear(WorkerId worker, std::string_view lines);

  Handlers handlers_;
  std::map<WorkerId, std::string> told_;  // the line that counts, by worker
  LineWatch lines_;
};

// What a program has written as one line: {"steps": 20000} or {"samples": 1280000}.
[[nodiscard]] Result<api::ReadyMessage> length_of_line(const std::string& line);

}  // namespace tidepool::agent
