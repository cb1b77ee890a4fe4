#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/event_stream.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/progress.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLogPoll{500};
constexpr std::int64_t kLogPage = 65'536;  // bytes that the daemon gives at once
constexpr std::int64_t kEventsShownMost = 100'000;

std::string event_line(const json& event) {
  std::string words = event_sentence(event, "");
  if (words.empty()) words = event.contains("data") ? event.at("data").dump() : "";
  std::string subject = text_at(event, "/job", text_at(event, "/node"));
  return printable(event_time(text_at(event, "/at"), today()) + "  " + text_at(event, "/type") + "  " + subject +
                   (subject.empty() ? "" : "  ") + words) +
         "\n";
}

void print_event(const Session& session, const json& event) {
  session.print_next(event, [&] { return event_line(event); });
}

struct EventsAsked {
  std::string job;
  bool follow = false;
  std::size_t limit = 50;
};

int show_events(Session& session, const EventsAsked& asked) {
  const std::string job = asked.job.empty() ? "" : session.job_id(asked.job);
  const std::string path = job.empty() ? "/v1/events" : "/v1/jobs/" + job + "/events";
  const Listed newest = session.list(path + "?order=desc", asked.limit);
  std::uint64_t after = newest.as_of_seq;
  for (auto event = newest.items.rbegin(); event != newest.items.rend(); ++event) {
    print_event(session, *event);
    after = std::max(after, static_cast<std::uint64_t>(number_at(*event, "/seq").value_or(0)));
  }
  if (!asked.follow) return kExitOk;
  leave_on_interrupt();
  const FollowEnd end = follow_events(session.endpoint(), {.after = after}, [&](const json& event) {
    if (job.empty() || text_at(event, "/job") == job) print_event(session, event);
    return true;
  });
  if (end == FollowEnd::kReset) fail(kExitApi, "events came faster than they could be read; run the command again");
  return kExitOk;
}

struct LogsAsked {
  std::string job;
  std::string worker;
  bool follow = false;
  std::optional<std::int64_t> tail;  // lines of each worker; none: all
};

// Where the last so many lines of `text` begin.
std::int64_t begin_of_tail(const std::string& text, std::int64_t lines) {
  std::size_t begin = text.size();
  if (begin > 0 && text.back() == '\n') --begin;
  for (; lines > 0 && begin > 0; --lines) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    if (newline == std::string::npos) return 0;
    begin = newline;
  }
  return static_cast<std::int64_t>(begin == 0 ? 0 : std::min(begin + 1, text.size()));
}

// Reads each worker's captured output to its present end, whole lines only while it may grow.
class LogReader {
 public:
  LogReader(Session& session, std::string job, std::optional<std::int64_t> tail)
      : session_(session), path_("/v1/jobs/" + job + "/logs"), tail_(tail) {}

  // True if the worker has exited and everything is printed.
  bool read(const std::string& worker, bool with_name) {
    const bool is_new = !places_.contains(worker);
    Place& place = places_[worker];
    if (is_new && tail_) skip_to_tail(worker, place);
    while (!place.eof) {
      const HttpReply page =
          session_.get_text(path_ + "?worker=" + escape_url(worker) + "&offset=" + std::to_string(place.offset));
      place.eof = header(page, "tidepool-log-end") == "true";
      const std::string next = header(page, "tidepool-next-offset");
      std::from_chars(next.data(), next.data() + next.size(), place.offset);
      print(worker, with_name, place, page.body);
      if (page.body.empty()) break;
    }
    return place.eof;
  }

 private:
  struct Place {
    std::int64_t offset = 0;
    bool eof = false;
    std::string unfinished;
  };

  // Where the newest lines begin, as far as one page from the end holds them.
  void skip_to_tail(const std::string& worker, Place& place) {
    const HttpReply page =
        session_.get_text(path_ + "?worker=" + escape_url(worker) + "&offset=-" + std::to_string(kLogPage));
    const std::string next = header(page, "tidepool-next-offset");
    std::int64_t end = 0;
    std::from_chars(next.data(), next.data() + next.size(), end);
    place.offset = end - static_cast<std::int64_t>(page.body.size()) + begin_of_tail(page.body, *tail_);
  }

  static std::string header(const HttpReply& reply, const std::string& name) {
    const auto found = reply.headers.find(name);
    return found == reply.headers.end() ? "" : found->second;
  }

  void print(const std::string& worker, bool with_name, Place& place, const std::string& data) {
    if (session_.format() != OutputFormat::kTable) {
      if (!data.empty()) session_.print_next({{"worker", worker}, {"data", data}}, nullptr);
      return;
    }
    place.unfinished += data;
    if (place.eof && !place.unfinished.empty() && !place.unfinished.ends_with('\n')) place.unfinished += '\n';
    std::size_t begin = 0;
    for (auto end = place.unfinished.find('\n'); end != std::string::npos; end = place.unfinished.find('\n', begin)) {
      write_out((with_name ? worker + " | " : "") + printable(place.unfinished.substr(begin, end - begin)) + "\n");
      begin = end + 1;
    }
    place.unfinished.erase(0, begin);
  }

  Session& session_;
  std::string path_;
  std::optional<std::int64_t> tail_;
  std::map<std::string, Place> places_;
};

// All workers that the job has or had, oldest first: those that are gone are known from its events. Each look reads
// the events since the one before.
class WorkersSeen {
 public:
  WorkersSeen(Session& session, const std::string& job, const std::string& only)
      : session_(session), path_("/v1/jobs/" + job + "/events?type=worker.started&after="), looks_(only.empty()) {
    if (!looks_) workers_.push_back(only);
  }

  const std::vector<std::string>& look() {
    if (!looks_) return workers_;
    const Listed started = session_.list(path_ + std::to_string(after_));
    after_ = std::max(after_, started.as_of_seq);
    for (const auto& event : started.items) {
      workers_.push_back(text_at(event, "/data/worker"));
      after_ = std::max(after_, static_cast<std::uint64_t>(number_at(event, "/seq").value_or(0)));
    }
    return workers_;
  }

 private:
  Session& session_;
  std::string path_;
  bool looks_;
  std::uint64_t after_ = 0;
  std::vector<std::string> workers_;
};

bool job_has_ended(Session& session, const std::string& job) {
  const std::string state = text_at(session.get("/v1/jobs/" + job), "/state");
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

// Looks at a job's logs again and again. Daemon and agents may be away for as long as they may for a stream of events.
class LogFollower {
 public:
  LogFollower(Session& session, const LogsAsked& asked, const std::string& job)
      : session_(session),
        asked_(asked),
        job_(job),
        reader_(session, job, asked.tail),
        workers_(session, job, asked.worker) {}

  void run() {
    while (!look_patiently() && asked_.follow) std::this_thread::sleep_for(kLogPoll);
    if (!any_read_ && !away_.empty()) fail(kExitApi, "the output of none of its workers can be read now");
  }
  [[nodiscard]] bool found_any() const { return any_; }

 private:
  bool look_patiently() {
    try {
      const bool done = look();
      away_since_.reset();
      return done;
    } catch (const Failure& failure) {
      const auto now = std::chrono::steady_clock::now();
      if (!away_since_) away_since_ = now;
      if (!asked_.follow || !failure.may_pass || now - *away_since_ >= kPatience) throw;
      return false;
    }
  }

  // True once nothing more can come.
  bool look() {
    const bool ended = job_has_ended(session_, job_);  // before the read, so that the last lines are not missed
    bool all_read = true;
    for (const auto& worker : workers_.look()) {
      any_ = true;
      all_read = read_or_note(worker) && all_read;
    }
    return all_read && (ended || !asked_.worker.empty());
  }

  // Of several workers, one whose node is away does not keep the others' output back.
  bool read_or_note(const std::string& worker) {
    try {
      const bool done = reader_.read(worker, asked_.worker.empty());
      away_.erase(worker);
      any_read_ = true;
      return done;
    } catch (const Failure& failure) {
      if (!asked_.worker.empty() || !failure.answered || !failure.may_pass) throw;
      if (away_.insert(worker).second) {
        std::fprintf(stderr, "schedctl: no output of %s: %s\n", worker.c_str(), failure.message.c_str());
      }
      return false;
    }
  }

  Session& session_;
  const LogsAsked& asked_;
  const std::string& job_;
  LogReader reader_;
  WorkersSeen workers_;
  bool any_ = false;
  bool any_read_ = false;
  std::set<std::string> away_;  // workers whose output was told to be out of reach
  std::optional<std::chrono::steady_clock::time_point> away_since_;
};

int show_logs(Session& session, const LogsAsked& asked) {
  const std::string job = session.job_id(asked.job);
  if (asked.follow) leave_on_interrupt();
  LogFollower logs(session, asked, job);
  logs.run();
  if (!logs.found_any()) fail(kExitNegative, job + " has no workers with output yet; see: schedctl why " + job);
  return kExitOk;
}

}  // namespace

void add_stream_commands(CLI::App& app, Chosen& chosen) {
  const auto events = std::make_shared<EventsAsked>();
  CLI::App* command = app.add_subcommand("events", "What has happened, oldest first");
  command->add_option("job", events->job, "only events of this job");
  command->add_flag("-f,--follow", events->follow, "go on with what happens from now on");
  command->add_option("--limit", events->limit, "at most so many of the past")
      ->capture_default_str()
      ->check(whole_number(0, kEventsShownMost));
  command->callback(
      [events, &chosen] { chosen.online = [events](Session& session) { return show_events(session, *events); }; });

  const auto logs = std::make_shared<LogsAsked>();
  CLI::App* read = app.add_subcommand("logs", "What the workers of a job have printed");
  read->add_option("job", logs->job, "id or name")->required();
  read->add_option("--worker", logs->worker, "only this worker, such as w-3")->check(not_empty());
  read->add_option("--tail", logs->tail, "only so many of the newest lines of each worker")
      ->check(whole_number(0, 10'000));
  read->add_flag("-f,--follow", logs->follow, "go on until the job ends");
  read->callback([logs, &chosen] { chosen.online = [logs](Session& session) { return show_logs(session, *logs); }; });
}

}  // namespace tidepool::ctl
