#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/event_stream.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/progress.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kEventsShownMost = 100'000;

std::string event_line(const json& event) {
  std::string words = event_sentence(event, "");
  if (words.empty()) words = event.contains("data") ? event.at("data").dump() : "";
  if (const std::string token = text_at(event, "/actor/token"); !token.empty()) {
    words += "  (by " + text_at(event, "/actor/name", token) + ", token " + token + ")";
  }
  std::string subject = text_at(event, "/job", text_at(event, "/node"));
  return printable(time_beside(text_at(event, "/at"), time_now()) + " UTC  " + text_at(event, "/type") + "  " +
                   subject + (subject.empty() ? "" : "  ") + words) +
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

}  // namespace

void add_stream_commands(CLI::App& app, Chosen& chosen) {
  const auto events = std::make_shared<EventsAsked>();
  CLI::App* command = app.add_subcommand("events", "What has happened, oldest first");
  command->add_option("job", events->job, "only events of this job")->check(not_empty());
  command->add_flag("-f,--follow", events->follow, "go on with what happens from now on");
  command->add_option("--limit", events->limit, "at most so many of the past")
      ->capture_default_str()
      ->check(whole_number(0, kEventsShownMost));
  command->callback(
      [events, &chosen] { chosen.online = [events](Session& session) { return show_events(session, *events); }; });
}

}  // namespace tidepool::ctl
