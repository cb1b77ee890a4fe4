// Prints each worker's captured output up to its present end, each line as a terminal shows it: what a progress bar has
// written over is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "schedctl/session.hpp"

namespace tidepool::ctl {

class LogReader {
 public:
  struct Wanted {
    std::optional<std::int64_t> tail;  // only so many of the newest lines of each worker; none: all
    bool follows = false;              // it reads again and again
  };
  LogReader(Session& session, const std::string& job, const Wanted& wanted)
      : session_(session), path_("/v1/jobs/" + job + "/logs"), wanted_(wanted) {}

  // Prints what is new of the worker, and what was dropped before it. If it follows, of a line that has no end yet
  // nothing, and of a progress bar now and then its present state. True if it has exited and everything is printed.
  // Throws Failure as Session does.
  bool read(const std::string& worker, bool with_name);
  [[nodiscard]] bool has_printed() const { return has_printed_; }

 private:
  struct Place {
    std::int64_t offset = 0;
    bool eof = false;
    std::string unfinished;
    int looks = 0;  // at a progress bar that goes on
  };

  struct Page {
    std::string data;
    std::int64_t offset = 0;       // of the data
    std::int64_t next_offset = 0;  // behind the data
    bool eof = false;
  };

  Page page_at(const std::string& worker, std::int64_t offset, std::int64_t bytes);
  [[nodiscard]] std::int64_t begin_of_tail(const std::string& worker);
  void print(const std::string& worker, bool with_name, Place& place, const Page& page);
  void print_unfinished(const std::string& worker, bool with_name, Place& place);
  void tell_dropped(const std::string& worker, std::int64_t bytes) const;

  Session& session_;
  std::string path_;
  Wanted wanted_;
  bool has_printed_ = false;
  std::map<std::string, Place> places_;
};

}  // namespace tidepool::ctl
