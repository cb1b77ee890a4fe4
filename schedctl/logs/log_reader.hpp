// Prints each worker's captured output up to its present end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "schedctl/session.hpp"

namespace tidepool::ctl {

class LogReader {
 public:
  // `tail`: only so many of the newest lines of each worker; none: all.
  LogReader(Session& session, const std::string& job, std::optional<std::int64_t> tail)
      : session_(session), path_("/v1/jobs/" + job + "/logs"), tail_(tail) {}

  // Prints what is new of the worker, whole lines only while it may grow, and what was dropped before it. True if it
  // has exited and everything is printed. Throws Failure as Session does.
  bool read(const std::string& worker, bool with_name);
  [[nodiscard]] bool has_printed() const { return has_printed_; }

 private:
  struct Place {
    std::int64_t offset = 0;
    bool eof = false;
    std::string unfinished;
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
  void tell_dropped(const std::string& worker, std::int64_t bytes) const;

  Session& session_;
  std::string path_;
  std::optional<std::int64_t> tail_;
  bool has_printed_ = false;
  std::map<std::string, Place> places_;
};

}  // namespace tidepool::ctl
