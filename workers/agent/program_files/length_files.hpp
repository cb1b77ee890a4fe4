// How much work a program has that is restarted at each size: the program writes its length into a file, and its agent
// reports it to the daemon, as a program with the library does in `ready`. The newest whole line that is a valid length
// counts. The program owns the file, so it is read as newest_line.hpp describes.
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

  // Watches the file until the program has ended. Removes what an earlier program left there.
  void start(WorkerId worker, const std::filesystem::path& file);
  // As start(), for a program that an earlier agent started.
  void adopt(WorkerId worker, const std::filesystem::path& file);
  void forget(WorkerId worker);
  // Reports all lengths again, because the daemon may not know them.
  void report_again();

  // Name of the worker's file, in a folder that it may share with other workers of its job.
  [[nodiscard]] static std::string name_of(WorkerId worker) { return "tidepool-length-" + worker.text() + ".jsonl"; }

 private:
  void hear(WorkerId worker, std::string_view lines);

  Handlers handlers_;
  std::map<WorkerId, std::string> told_;  // the line that counts, by worker
  LineWatch lines_;
};

// Parses a line that a program wrote: {"steps": 20000} or {"samples": 1280000}.
[[nodiscard]] Result<api::ReadyMessage> length_of_line(const std::string& line);

}  // namespace tidepool::agent
