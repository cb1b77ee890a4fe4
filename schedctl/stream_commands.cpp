#include <CLI/CLI.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/event_stream.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/folded_rows.hpp"
#include "schedctl/node_named.hpp"
#include "schedctl/progress.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kEventsShownMost = 100'000;

HistoryRow event_row(const json& event) {
  std::string words = event_sentence(event, "");
  if (words.empty()) words = event.contains("data") ? event.at("data").dump() : "";
  if (const std::string token = text_at(event, "/actor/token"); !token.empty()) {
    words += "  (by " + text_at(event, "/actor/name", token) + ", token " + token + ")";
  }
  std::string subject = text_at(event, "/job", text_at(event, "/node"));
  const std::string type = text_at(event, "/type");
  const std::string at = utc_beside(text_at(event, "/at"), time_now());
  return {.head = at,
          .subject = subject.empty() ? type + words : subject,  // those of no job and no node have no order to keep
          .words = type + "  " + subject + (subject.empty() ? "" : "  ") + words,
          .at = at};
}

std::string event_line(const json& event) {
  const HistoryRow row = event_row(event);
  return printable(row.head + "  " + row.words) + "\n";
}

void print_event(const Session& session, const json& event) {
  session.print_next(event, [&] { return event_line(event); });
}

struct EventsOptions {
  std::string job;
  std::string node;                // not beside `job`
  std::vector<std::string> types;  // none: all but routine ones (is_brief)
  bool follow = false;
  bool all = false;
  std::size_t limit = 50;
};

// What comes all the time while jobs train would push out the rest; who asks for all or by type, and programs, get it.
bool is_brief(const Session& session, const EventsOptions& asked) {
  return !asked.all && asked.types.empty() && session.format() == OutputFormat::kTable;
}

// What has happened so far, oldest first, and what of it each list that was read had seen.
struct Past {
  std::vector<json> events;
  std::map<std::string, std::uint64_t> seen;  // by type; "": of all types
};

std::string filter_of(const EventsOptions& asked) {
  return asked.node.empty() ? "" : "&node=" + escape_url(asked.node);
}

// The daemon lists one type or all; of several the newest are taken together.
Past read_past(Session& session, const EventsOptions& asked, const std::string& job) {
  const std::string path = (job.empty() ? "/v1/events" : "/v1/jobs/" + job + "/events") + std::string("?order=desc") +
                           filter_of(asked) + (is_brief(session, asked) ? "&brief=true" : "");
  const auto number_of = [](const json& event) {
    return static_cast<std::uint64_t>(number_at(event, "/seq").value_or(0));
  };
  Past past;
  for (const auto& type : asked.types.empty() ? std::vector<std::string>{""} : asked.types) {
    if (past.seen.contains(type)) continue;
    Listed newest = session.list(path + (type.empty() ? "" : "&type=" + escape_url(type)), asked.limit);
    std::uint64_t& seen = past.seen[type] = newest.as_of_seq;
    for (json& event : newest.items) {
      seen = std::max(seen, number_of(event));
      past.events.push_back(std::move(event));
    }
  }
  std::sort(past.events.begin(), past.events.end(),
            [&](const json& a, const json& b) { return number_of(a) < number_of(b); });
  if (past.events.size() > asked.limit) {
    past.events.erase(past.events.begin(), past.events.end() - static_cast<std::ptrdiff_t>(asked.limit));
  }
  return past;
}

void print_past(const Session& session, const EventsOptions& asked, const std::vector<json>& events) {
  if (session.format() != OutputFormat::kTable) {
    for (const json& event : events) print_event(session, event);
    return;
  }
  FoldedRows rows(!asked.all, "last");
  for (const json& event : events) rows.add(event_row(event));
  for (const std::string& line : rows.lines()) write_out(printable(line) + "\n");
}

// Followed over new connections: by then another node may have its name.
void settle_node(Session& session, EventsOptions& asked) {
  if (!asked.follow || asked.node.empty()) return;
  const std::string id = node_named(session.list("/v1/nodes").items, asked.node);
  if (!id.empty()) asked.node = id;  // else one that was removed, by its id
}

// After a gap what is left is shown, and a line says what is not.
std::uint64_t tell_gap(const StreamGap& gap) {
  if (gap.after > gap.latest) {
    std::fprintf(stderr,
                 "schedctl: the daemon's newest event is %" PRIu64 ", before %" PRIu64
                 ", which has been read: its state is another one; its new events follow\n",
                 gap.latest, gap.after);
    return gap.latest;
  }
  const std::uint64_t after = gap.oldest > gap.after + 1 ? gap.oldest - 1 : gap.latest;
  std::fprintf(stderr, "schedctl: events %" PRIu64 " to %" PRIu64 " are skipped: the daemon no longer keeps them\n",
               gap.after + 1, after);
  return after;
}

bool has_ended(Session& session, const std::string& job) {
  return !job.empty() && is_final_state(text_at(session.get("/v1/jobs/" + job), "/state"));
}

// Prints what follows `past`: of one job until it has ended, else until it is interrupted.
void follow_after(Session& session, const EventsOptions& asked, const std::string& job, Past past) {
  const bool brief = is_brief(session, asked);
  std::uint64_t after = UINT64_MAX;
  for (const auto& [type, seen] : past.seen) after = std::min(after, seen);
  const auto on_gap = [&](const StreamGap& gap) {
    const std::uint64_t from = tell_gap(gap);
    // Numbers of another state are lower; where events were only dropped, those that were listed stay told.
    for (auto& [type, seen] : past.seen) seen = std::min(seen, std::max(from, gap.latest));
    return has_ended(session, job) ? std::nullopt : std::optional(from);
  };
  const FollowOptions options{.after = after, .filter = filter_of(asked), .on_gap = on_gap};
  follow_events(session.endpoint(), options, [&](const json& event) {
    const auto seen = past.seen.find(asked.types.empty() ? "" : text_at(event, "/type"));
    const bool is_new = seen != past.seen.end() && number_at(event, "/seq") > static_cast<double>(seen->second);
    const bool is_of_job = text_at(event, "/job") == job;
    if (is_new && (job.empty() || is_of_job) && !(brief && is_routine(event))) print_event(session, event);
    return job.empty() || !is_of_job || text_at(event, "/type") != "job.finished";
  });
}

int show_events(Session& session, EventsOptions asked) {
  settle_node(session, asked);
  const std::string job = asked.job.empty() ? "" : session.job_id(asked.job);
  Past past = read_past(session, asked, job);
  const bool is_over = asked.follow && has_ended(session, job);
  if (is_over) past = read_past(session, asked, job);  // with what came before the job's end
  print_past(session, asked, past.events);
  if (!asked.follow || is_over) return kExitOk;
  leave_on_interrupt();
  follow_after(session, asked, job, std::move(past));
  return kExitOk;
}

}  // namespace

void add_stream_commands(CLI::App& app, Chosen& chosen) {
  const auto events = std::make_shared<EventsOptions>();
  CLI::App* command = app.add_subcommand("events", "List events, oldest first");
  CLI::Option* job = command->add_option("job", events->job, "only events of this job")->check(not_empty());
  command->add_option("--node", events->node, "only events of this node and of workers on it, by its name or id")
      ->check(not_empty())
      ->excludes(job);
  command->add_option("--type", events->types, "only events of these types, such as worker.lost,job.finished")
      ->delimiter(',')
      ->allow_extra_args(false)  // what follows may be the job
      ->check(not_empty());
  command->add_flag("-f,--follow", events->follow,
                    "print new events as they come: those of one job until it has ended");
  command->add_option("--limit", events->limit, "at most this many past events")
      ->capture_default_str()
      ->check(whole_number(0, kEventsShownMost));
  command->add_flag(
      "--all", events->all,
      "list also each measurement and each successful audit of an epoch, and repeated rows one by one; without "
      "it rows that differ only in their time are one row");
  command->callback(
      [events, &chosen] { chosen.online = [events](Session& session) { return show_events(session, *events); }; });
}

}  // namespace tidepool::ctl
