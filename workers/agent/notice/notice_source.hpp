// Where a node looks for the notice that its machine will be reclaimed: a file, a command or its cloud's metadata.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

struct NoticeOptions {
  enum class Source { kNone, kFile, kCommand, kUrl };
  Source source = Source::kNone;
  std::string where;  // path, shell command or address
  Duration period = Duration::seconds(5);
  Duration lead = Duration::seconds(30);  // for notices that name no end
};

// The texts from the command line; empty = not given.
struct NoticeTexts {
  std::string file;
  std::string command;
  std::string url;
  std::string period;
  std::string lead;
};
void check_notice(const NoticeTexts& texts, NoticeOptions& options, std::vector<std::string>& mistakes);

struct NoticeLook {
  enum class Seen { kNone, kNotice, kUnknown };
  Seen seen = Seen::kNone;
  std::string text;              // of the notice (read_notice); the reason if unknown
  std::optional<Instant> since;  // start of a duration in it, by the wall clock; none: now
};

using GivesUp = std::function<bool()>;  // true: the look is no longer wanted

// Waits at most for the limits below. If the source fails, the result is neither that there is a notice nor that there
// is none.
[[nodiscard]] NoticeLook look_for_notice(const NoticeOptions& options, const GivesUp& gives_up);
inline constexpr std::chrono::milliseconds kNoticeCommandLimit{10'000};
inline constexpr std::chrono::milliseconds kNoticeUrlLimit{2'000};

[[nodiscard]] NoticeLook look_at_file(const std::string& path);
// The command's process group is killed at the limit.
[[nodiscard]] NoticeLook look_at_command(const std::string& command, std::chrono::milliseconds limit,
                                         const GivesUp& gives_up);
[[nodiscard]] NoticeLook look_at_url(const std::string& url, std::chrono::milliseconds limit);

}  // namespace tidepool::agent
