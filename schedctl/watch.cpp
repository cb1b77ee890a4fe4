#include "schedctl/watch.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "base/time.hpp"
#include "core/state/routine_event.hpp"
#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/event_stream.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/progress.hpp"
#include "schedctl/summary.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSentenceIndent = 14;       // behind "21:53:31 UTC  "
constexpr std::chrono::seconds kLineEvery{2};     // progress lines where nothing can be redrawn
constexpr std::chrono::seconds kRefreshEvery{1};  // of the job resource, which holds the reason

// Reasons that hold a size, and reasons that led to one; all others say what happens at the moment.
bool holds_a_size(const std::string& code) {
  static const std::set<std::string> codes = {"EfficiencySettled", "UtilitySettled",   "AtMax",    "AtMin",
                                              "FixedSize",         "PinnedByUser",     "PriceCap", "NoSlotsToGrow",
                                              "BatchTooSmall",     "TransitionTooDear"};
  return codes.contains(code);
}
bool leads_to_a_size(const std::string& code) {
  static const std::set<std::string> codes = {"EfficientUp", "InefficientDown", "UtilityUp", "UtilityDown",
                                              "ResizedByUser"};
  return codes.contains(code);
}

// Asks again for as long as a daemon that was there may be away.
json get_patiently(Session& session, const std::string& path) {
  for (const auto since = Clock::now();;) {
    try {
      return session.get(path);
    } catch (const Failure& failure) {
      if (!failure.may_pass || Clock::now() - since >= kPatience) throw;
    }
    std::this_thread::sleep_for(kRefreshEvery);
  }
}

class Watch {
 public:
  Watch(Session& session, std::string job) : session_(session), job_(std::move(job)) {}

  // The number to follow from.
  std::uint64_t catch_up() {
    refresh();
    const Listed history = session_.each("/v1/jobs/" + job_ + "/events?after=" + std::to_string(last_seq_),
                                         [&](const json& event) { show(event, false); });
    draw();
    return std::max(history.as_of_seq, last_seq_);
  }

  // False once the job has ended.
  bool on_event(const json& event) {
    show(event, true);
    return !ended_;
  }

  // The last look at the job, and the summary if it was asked for.
  int finish(const WatchOptions& options) {
    take(get_patiently(session_, "/v1/jobs/" + job_));
    if (line_drawn_) write_out("\n");
    if (options.summary) summarize();
    return text_at(job_resource_, "/state") == "succeeded" ? kExitOk : kExitNegative;
  }

  [[nodiscard]] bool ended() const { return ended_; }

 private:
  // Before its events are read, so that those of a job that has ended have its end.
  void refresh() {
    take(session_.get("/v1/jobs/" + job_));
    ended_ = is_over();
  }

  // The stream finds out by itself whether the daemon stays away, and its job.finished, which may be behind what is
  // read here, whether the job has ended.
  void refresh_if_there() {
    try {
      take(session_.get("/v1/jobs/" + job_));
    } catch (const Failure& failure) {
      if (!failure.may_pass) throw;
      refreshed_ = Clock::now();
    }
  }

  void take(json job) {
    job_resource_ = std::move(job);
    refreshed_ = Clock::now();
    take_job(progress_, job_resource_);
    if (is_over()) return;
    if (const int size = static_cast<int>(number_at(job_resource_, "/size").value_or(0)); size > 0) kept_size_ = size;
    take_why(job_resource_.value("reason", json()));
  }

  [[nodiscard]] bool is_over() const { return is_final_state(text_at(job_resource_, "/state")); }

  // Told once for each size; its numbers move with every measurement. Moves are told by job.resizing.
  void take_why(const json& reason) {
    const std::string code = text_at(reason, "/code");
    if (!holds_a_size(code)) return;
    kept_why_ = text_at(reason, "/text");
    const auto told = std::pair(code, kept_size_);
    if (for_programs() || std::exchange(told_why_, told) == told) return;
    say(clock_ + "  " + kept_why_);
  }

  void show(const json& event, bool live) {
    const auto seq = static_cast<std::uint64_t>(number_at(event, "/seq").value_or(0));
    if (seq <= last_seq_) return;
    last_seq_ = seq;
    clock_ = utc_beside(text_at(event, "/at"), time_now());
    const std::string sentence = event_sentence(event, job_);
    const std::string type = text_at(event, "/type");
    const bool mine = text_at(event, "/job") == job_;
    if (mine && type == "job.finished") {
      ended_ = true;
      error_told_ = !text_at(event, "/data/error").empty();
    }
    if (for_programs() && (mine || !sentence.empty())) session_.print_next(event, nullptr);
    if (!for_programs() && !sentence.empty()) say(clock_ + "  " + sentence);
    if (!mine) return;
    take_event(progress_, event);
    if (type == "job.resizing" && leads_to_a_size(text_at(event, "/data/reason/code"))) {
      // "growing 1 -> 2: the last worker added ...": the size that it came to is said beside it.
      const std::string why = text_at(event, "/data/reason/text");
      kept_why_ = why.substr(why.find(": ") == std::string::npos ? 0 : why.find(": ") + 2);
    }
    count_epochs(event);
    if (type == "job.progressed") kept_size_ = static_cast<int>(progress_.size);
    if (live && !ended_ && Clock::now() - refreshed_ >= kRefreshEvery) refresh_if_there();
    if (live && !ended_) draw();
  }

  // One event may tell of several sound ones.
  void count_epochs(const json& event) {
    if (text_at(event, "/type") == "job.finished") {
      epochs_sound_ += static_cast<int>(number_at(event, "/data/epochs_untold").value_or(0));
    }
    if (text_at(event, "/type") != "data.epoch_audited") return;
    const int epochs = static_cast<int>(number_at(event, "/data/epochs").value_or(1));
    (core::audit_is_sound(event.value("data", json())) ? epochs_sound_ : epochs_broken_) += epochs;
  }

  // A sentence above the progress line.
  void say(const std::string& sentence) {
    clear_line();
    write_out(wrapped(printable(sentence), kSentenceIndent, session_.style()) + "\n");
    if (session_.on_terminal()) draw();
  }

  void draw() {
    if (for_programs() || ended_ || is_over() || progress_.step <= 0) return;
    const bool redraw = session_.on_terminal();
    if (!redraw && drawn_ && Clock::now() - *drawn_ < kLineEvery) return;
    drawn_ = Clock::now();
    clear_line();
    write_out(progress_line(progress_, session_.style()) + (redraw ? "" : "\n"));
    line_drawn_ = redraw;
  }

  void clear_line() {
    if (std::exchange(line_drawn_, false)) write_out("\r\033[K");
  }

  void summarize() {
    SummaryFacts facts{.job = job_resource_,
                       .metrics = get_patiently(session_, "/v1/jobs/" + job_ + "/metrics?limit=2"),
                       .kept_size = kept_size_,
                       .kept_why = kept_why_,
                       .epochs_sound = epochs_sound_,
                       .epochs_broken = epochs_broken_,
                       .error_told = error_told_};
    if (!for_programs()) return write_out("\n" + summary_text(facts, session_.style()));
    session_.print_next({{"type", "summary"}, {"job", facts.job}, {"kept_size", kept_size_}, {"kept_why", kept_why_}},
                        nullptr);
  }

  [[nodiscard]] bool for_programs() const { return session_.format() != OutputFormat::kTable; }

  Session& session_;
  std::string job_;
  json job_resource_;
  Progress progress_;
  std::uint64_t last_seq_ = 0;
  Clock::time_point refreshed_;
  std::optional<Clock::time_point> drawn_;
  bool line_drawn_ = false;
  bool ended_ = false;
  int kept_size_ = 0;
  std::string kept_why_;
  std::pair<std::string, int> told_why_;
  std::string clock_;  // of the newest event
  int epochs_sound_ = 0;
  int epochs_broken_ = 0;
  bool error_told_ = false;
};

}  // namespace

int watch_job(Session& session, const std::string& job, const WatchOptions& options) {
  leave_on_interrupt();
  std::optional<Clock::time_point> until;
  if (options.within) until = Clock::now() + *options.within;
  Watch watch(session, job);
  FollowEnd end = FollowEnd::kReset;
  while (end == FollowEnd::kReset) {
    const std::uint64_t after = watch.catch_up();
    if (watch.ended()) break;
    end = follow_events(session.endpoint(), {.after = after, .until = until},
                        [&](const json& event) { return watch.on_event(event); });
  }
  if (end == FollowEnd::kTimeout) fail(kExitTimeout, job + " has not ended in the given time; it continues");
  return watch.finish(options);
}

void add_watch_command(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    bool summary = false;
    std::string within;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* watch = app.add_subcommand("watch", "Follow a job to its end; exit 0 only if it succeeds");
  watch->add_option("job", given->job, "id or name")->required();
  watch->add_flag("--summary", given->summary, "print what was learned, tried, kept and paid at the end");
  watch->add_option("--within", given->within, "stop waiting after this long, such as 10m (exit 4)")
      ->check(not_empty());
  watch->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      WatchOptions options{.summary = given->summary};
      if (!given->within.empty()) {
        const auto within = parse_duration(given->within);
        if (!within.ok()) fail(kExitUsage, "--within: " + within.error().message);
        options.within = std::chrono::seconds(within->count_us() / 1'000'000);
      }
      return watch_job(session, session.job_id(given->job), options);
    };
  });
}

}  // namespace tidepool::ctl
