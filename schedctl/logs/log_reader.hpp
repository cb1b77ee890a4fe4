// Prints each worker's captured output up to its present end. A progress bar, which writes over itself by carriage
// returns, is shown as a terminal would leave it; programs (-o json) get all that was printed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "schedctl/session.hpp"

namespace tidepool::ctl {

class LogReader {
 public:
  // `tail`: only this many of the newest lines of each worker; none: all. `follows`: a line that is not finished is
  // printed once a read() finds no more of it, and the state of a progress bar every ten of them; else at once.
  LogReader(Session& session, const std::string& job, std::optional<std::int64_t> tail, bool follows)
      : session_(session), path_("/v1/jobs/" + job + "/logs"), tail_(tail), follows_(follows) {}

  // Prints what is new of the worker, and what was dropped before it. True if it has exited and everything is printed.
  // Throws Failure as Session does.
  bool read(const std::string& worker, bool with_name);
  [[nodiscard]] bool has_printed() const { return has_printed_; }

 private:
  struct Place {
    std::int64_t offset = 0;
    bool eof = false;
    std::string unfinished;
    bool is_begun = false;  // a part of the line is printed
    bool is_bar = false;    // the line has been written over
    int looks = 0;          // at that bar since its state was printed
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
  void print_unfinished(const std::string& worker, bool with_name, Place& place, bool rests);
  void print_dropped(const std::string& worker, std::int64_t bytes) const;
  static void print_line(const std::string& worker, bool with_name, std::string_view line);

  Session& session_;
  std::string path_;
  std::optional<std::int64_t> tail_;
  bool follows_;
  bool has_printed_ = false;
  std::map<std::string, Place> places_;
};

}  // namespace tidepool::ctl
