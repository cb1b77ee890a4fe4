// Notices to leave for programs without the library: a file that says that the worker is to end, and one in which its
// program answers. Both lie in the worker's own folder, which a confined program does not see; a notice is replaced
// whole, and of an answer the newest whole line counts.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "api/worker_protocol.hpp"
#include "workers/agent/program_files/line_watch.hpp"

namespace tidepool::agent {

class NoticeFiles {
 public:
  struct Handlers {
    std::function<void(WorkerId, api::AnswerMessage)> on_answer;
    std::function<void(WorkerId, const std::string& sentence)> on_bad_answer;
    std::function<void(WorkerId, const std::string& sentence)> on_trouble;  // the agent's: no notice can be written
  };
  NoticeFiles(boost::asio::io_context& io, Handlers handlers);

  // Writes the notice, and looks for answers to it from now on. `folder`: the worker's, which exists.
  void tell(WorkerId worker, const std::filesystem::path& folder, const api::NoticeMessage& notice);
  // It has ended, or its program starts anew: no notice stands, that of an earlier agent neither.
  void forget(WorkerId worker, const std::filesystem::path& folder);

  [[nodiscard]] static std::filesystem::path notice_in(const std::filesystem::path& folder);
  [[nodiscard]] static std::filesystem::path answer_in(const std::filesystem::path& folder);

 private:
  struct ToldNotice {
    DecisionId decision;
    std::int64_t answers = 0;  // said so far
    std::string read;          // the line that was taken
  };
  void hear(WorkerId worker, const std::string& line);

  Handlers handlers_;
  std::map<WorkerId, ToldNotice> told_;
  LineWatch answers_;
};

// The answer that a program has written as one line: {"answer": "until", "until_unix_ms": 1767225600000}.
struct WrittenAnswer {
  api::NoticeAnswer answer = api::NoticeAnswer::kSaving;
  std::int64_t until_unix_ms = 0;  // kUntil
};
[[nodiscard]] Result<WrittenAnswer> answer_of_line(const std::string& line);

}  // namespace tidepool::agent
