#include "workers/agent/notice/notice_source.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "workers/agent/notice/metadata_http.hpp"
#include "workers/agent/system/child_answer.hpp"
#include "workers/agent/system/proc_info.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

using Seen = NoticeLook::Seen;
constexpr std::size_t kTextMax = 4096;

NoticeLook unknown(std::string why) {
  return {.seen = Seen::kUnknown, .text = std::move(why), .since = {}};
}

void check_duration(const std::string& text, const char* option, Duration& value, std::vector<std::string>& mistakes) {
  if (text.empty()) return;
  const auto read = parse_duration(text);
  if (!read.ok()) {
    mistakes.push_back(std::string(option) + ": " + read.error().message);
  } else if (*read < Duration::millis(10) || *read > Duration::seconds(86'400)) {
    mistakes.push_back(std::string(option) + " is 10ms to 24h");
  } else {
    value = *read;
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  const auto newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

}  // namespace

void check_notice(const NoticeTexts& texts, NoticeOptions& options, std::vector<std::string>& mistakes) {
  using Source = NoticeOptions::Source;
  int given = 0;
  const auto take = [&](const std::string& text, Source source) {
    if (text.empty()) return;
    ++given;
    options.source = source;
    options.where = text;
  };
  take(texts.file, Source::kFile);
  take(texts.command, Source::kCommand);
  take(texts.url, Source::kUrl);
  if (given > 1) mistakes.emplace_back("give one of --notice-file, --notice-command and --notice-url");
  if (given == 0 && !(texts.period.empty() && texts.lead.empty())) {
    mistakes.emplace_back("--notice-period and --notice-lead go with --notice-file, --notice-command or --notice-url");
  }
  if (!texts.url.empty()) {
    if (const auto url = parse_metadata_url(texts.url); !url.ok()) {
      mistakes.push_back("--notice-url: " + url.error().message);
    }
  }
  check_duration(texts.period, "--notice-period", options.period, mistakes);
  check_duration(texts.lead, "--notice-lead", options.lead, mistakes);
}

NoticeLook look_at_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return unknown(errno_error("look at " + path).message);
  }
  std::ifstream file(path);
  std::string text(kTextMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const Instant written = Instant::from_micros(info.st_mtim.tv_sec * 1'000'000 + info.st_mtim.tv_nsec / 1'000);
  return {.seen = Seen::kNotice, .text = std::move(text), .since = written};
}

NoticeLook look_at_command(const std::string& command, std::chrono::milliseconds limit, const GivesUp& gives_up) {
  ChildSpec spec{.program = "/bin/sh",
                 .argv = {"sh", "-c", command},
                 .environment = entries_of(own_environment()),
                 .workdir = {},
                 .cpus = {},
                 .confiner = {},
                 .plan = {}};
  auto answer = ask_child(std::move(spec), {.within = limit, .text_max = kTextMax, .gives_up = gives_up});
  if (!answer.ok()) return unknown(answer.error().message);
  if (answer->ended == ChildAnswer::Ended::kGivenUp) return unknown("not waited for");
  if (answer->ended == ChildAnswer::Ended::kLate) {
    return unknown("the notice command gave no answer within " + std::to_string(limit.count() / 1'000) +
                   " s and was killed");
  }
  const int status = answer->status;
  const std::string said = last_line(std::move(answer->text));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {.seen = Seen::kNotice, .text = said, .since = {}};
  const std::string how = WIFEXITED(status) ? "with exit code " + std::to_string(WEXITSTATUS(status))
                                            : "by signal " + std::to_string(WTERMSIG(status));
  return unknown("the notice command ended " + how + ": " + said);
}

NoticeLook look_at_url(const std::string& url, std::chrono::milliseconds limit) {
  const auto where = parse_metadata_url(url);
  if (!where.ok()) return unknown(where.error().message);
  auto reply = get_metadata(*where, limit);
  if (!reply.ok()) return unknown(reply.error().message);
  if (reply->status == 404) return {};
  if (reply->status != 200) return unknown(url + " answers with status " + std::to_string(reply->status));
  const std::string text = last_line(reply->body);
  if (text == "FALSE" || text == "false" || text == "NONE") return {};
  return {.seen = Seen::kNotice, .text = std::move(reply->body), .since = {}};
}

NoticeLook look_for_notice(const NoticeOptions& options, const GivesUp& gives_up) {
  switch (options.source) {
    case NoticeOptions::Source::kNone: break;
    case NoticeOptions::Source::kFile: return look_at_file(options.where);
    case NoticeOptions::Source::kCommand: return look_at_command(options.where, kNoticeCommandLimit, gives_up);
    case NoticeOptions::Source::kUrl: return look_at_url(options.where, kNoticeUrlLimit);
  }
  return {};
}

}  // namespace tidepool::agent
