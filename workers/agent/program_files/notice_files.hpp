// Notices to leave for programs without the library: one file says that the worker must end, and the program writes its
// answer into another. Both are in the worker's own folder, which a confined program does not see. A notice is replaced
// whole; of the answers the newest whole line counts.
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
    // For the agent's own problems: a notice cannot be written.
    std::function<void(WorkerId, const std::string& sentence)> on_trouble;
  };
  NoticeFiles(boost::asio::io_context& io, Handlers handlers);

  // Writes the notice and watches for answers to it. `folder` is the worker's folder and must exist.
  void tell(WorkerId worker, const std::filesystem::path& folder, const api::NoticeMessage& notice);
  // Call when the worker has ended or its program is restarted: removes the notice, also one of an earlier agent.
  void forget(WorkerId worker, const std::filesystem::path& folder);

  [[nodiscard]] static std::filesystem::path notice_in(const std::filesystem::path& folder);
  [[nodiscard]] static std::filesystem::path answer_in(const std::filesystem::path& folder);

 private:
  struct ToldNotice {
    DecisionId decision;
    std::int64_t answers = 0;  // number of answers so far
    std::string read;          // the last line that was accepted
  };
  void hear(WorkerId worker, const std::string& line);

  Handlers handlers_;
  std::map<WorkerId, ToldNotice> told_;
  LineWatch answers_;
};

// The answer that a program wrote as one line: {"answer": "until", "until_unix_ms": 1767225600000}.
struct WrittenAnswer {
  api::NoticeAnswer answer = api::NoticeAnswer::kSaving;
  std::int64_t until_unix_ms = 0;  // for kUntil
};
[[nodiscard]] Result<WrittenAnswer> answer_of_line(const std::string& line);

}  // namespace tidepool::agent
