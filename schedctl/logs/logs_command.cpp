// schedctl logs: what a job's workers have printed, those of the past and those to come.
#include <CLI/CLI.hpp>

#include <algorithm>
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
#include "schedctl/logs/log_reader.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLogPoll{500};

struct LogsOptions {
  std::string job;
  std::string worker;
  bool follow = false;
  std::optional<std::int64_t> tail;  // lines of each worker; none: all
};

// Workers are numbered as they are started: "w-9" before "w-10".
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};
using WorkerNames = std::set<std::string, ByNumber>;

// All workers that the job has or had, oldest first: those that are gone are known from its events, of which each look
// reads those since the one before. Of one that has run for long the event may be gone, so the first look lists as
// well.
class WorkersSeen {
 public:
  WorkersSeen(Session& session, const std::string& job, const std::string& only)
      : session_(session), path_("/v1/jobs/" + job), looks_(only.empty()) {
    if (!looks_) workers_.insert(only);
  }

  const WorkerNames& look() {
    if (!looks_) return workers_;
    if (after_ == 0) {
      for (const auto& worker : session_.list(path_ + "/workers").items) workers_.insert(text_at(worker, "/id"));
    }
    const Listed started = session_.list(path_ + "/events?type=worker.started&after=" + std::to_string(after_));
    after_ = std::max(after_, started.as_of_seq);
    for (const auto& event : started.items) {
      workers_.insert(text_at(event, "/data/worker"));
      after_ = std::max(after_, static_cast<std::uint64_t>(number_at(event, "/seq").value_or(0)));
    }
    return workers_;
  }

 private:
  Session& session_;
  std::string path_;
  bool looks_;
  std::uint64_t after_ = 0;
  WorkerNames workers_;
};

bool job_has_ended(Session& session, const std::string& job) {
  const std::string state = text_at(session.get("/v1/jobs/" + job), "/state");
  return state == "succeeded" || state == "failed" || state == "cancelled";
}

// Looks at a job's logs again and again. Daemon and agents may be away for as long as they may for a stream of events.
class LogFollower {
 public:
  LogFollower(Session& session, const LogsOptions& asked, const std::string& job)
      : session_(session),
        asked_(asked),
        job_(job),
        reader_(session, job, asked.tail, asked.follow),
        workers_(session, job, asked.worker) {}

  void run() {
    while (!look_patiently() && asked_.follow) std::this_thread::sleep_for(kLogPoll);
    if (!any_read_ && !away_.empty()) fail(kExitApi, "the output of none of its workers can be read now");
  }
  [[nodiscard]] bool found_any() const { return any_; }
  [[nodiscard]] bool has_printed() const { return reader_.has_printed(); }
  // As of the last look: the job has ended, and the output of each worker was read.
  [[nodiscard]] bool has_seen_all() const { return job_is_over_ && away_.empty(); }

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
    job_is_over_ = ended;
    bool all_read = true;
    for (const auto& worker : workers_.look()) {
      any_ = true;
      const bool is_read = read_or_note(worker) || (ended && is_given_up(worker));
      all_read = is_read && all_read;
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
      if (away_.emplace(worker, std::chrono::steady_clock::now()).second) {
        std::fprintf(stderr, "schedctl: no output of %s: %s\n", worker.c_str(), failure.message.c_str());
      }
      return false;
    }
  }

  // Its node may be gone for good: once the job has ended, it is waited for as long as for a daemon.
  [[nodiscard]] bool is_given_up(const std::string& worker) const {
    const auto away = away_.find(worker);
    return away != away_.end() && std::chrono::steady_clock::now() - away->second >= kPatience;
  }

  Session& session_;
  const LogsOptions& asked_;
  const std::string& job_;
  LogReader reader_;
  WorkersSeen workers_;
  bool any_ = false;
  bool any_read_ = false;
  bool job_is_over_ = false;
  // Workers whose output was told to be out of reach, and since when it is.
  std::map<std::string, std::chrono::steady_clock::time_point> away_;
  std::optional<std::chrono::steady_clock::time_point> away_since_;
};

void tell_no_output(const LogsOptions& asked, const std::string& job, bool is_all) {
  const std::string source = asked.worker.empty() ? job : asked.worker;
  const std::string text = "no output of " + source + (is_all ? " is kept" : " so far");
  std::fprintf(stderr, "schedctl: %s\n", text.c_str());
}

int show_logs(Session& session, const LogsOptions& asked) {
  const std::string job = session.job_id(asked.job);
  if (asked.follow) leave_on_interrupt();
  LogFollower logs(session, asked, job);
  logs.run();
  if (!logs.found_any()) fail(kExitNegative, job + " has no workers with output yet; see: schedctl why " + job);
  if (!logs.has_printed() && asked.tail != 0) tell_no_output(asked, job, logs.has_seen_all());
  return kExitOk;
}

}  // namespace

void add_logs_command(CLI::App& app, Chosen& chosen) {
  const auto logs = std::make_shared<LogsOptions>();
  CLI::App* read = app.add_subcommand("logs", "Print the output of a job's workers");
  read->add_option("job", logs->job, "id or name")->required();
  read->add_option("--worker", logs->worker, "only this worker, such as w-3")->check(not_empty());
  read->add_option("--tail", logs->tail, "only this many of the newest lines of each worker")
      ->check(whole_number(0, 10'000));
  read->add_flag("-f,--follow", logs->follow, "print new output until the job ends");
  read->callback([logs, &chosen] { chosen.online = [logs](Session& session) { return show_logs(session, *logs); }; });
}

}  // namespace tidepool::ctl
