// The list of jobs: those of the picture and those that have ended, newest first.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/lists/listed_job.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::string_view kJobsList = "jobs";

// The states named by ?state=a,b; empty = any.
Result<std::set<std::string>> read_states(const Call& call) {
  std::set<std::string> states;
  const std::string text = call.query("state");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string word(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    bool known = false;
    for (int state = 0; state <= static_cast<int>(core::JobState::kCancelled); ++state) {
      known = known || word == core::to_text(static_cast<core::JobState>(state));
    }
    if (!known) {
      return invalid_argument("state \"" + word + "\" is none of pending, starting, running, resizing, suspending, " +
                              "suspended, succeeded, failed, cancelled");
    }
    states.insert(word);
  }
  return states;
}

struct JobsAsked {
  Page page;
  std::set<std::string> states;  // empty = any
  std::string tenant;            // empty = any
  std::string name;              // empty = any
};

std::string whole_line(const Rest& rest, const Call& call, const core::Job& job) {
  return canonical_json(render_job(rest.seen_by(call), job, rest.options().currency));
}

// Of the picture, the newest first, one more than the page holds if there are so many.
std::vector<std::shared_ptr<const core::Job>> live_jobs(const Call& call, const JobsAsked& asked) {
  const auto most = static_cast<std::size_t>(asked.page.limit) + 1;
  std::vector<std::shared_ptr<const core::Job>> jobs;
  const auto& live = call.seen->state.jobs;
  auto end = asked.page.after ? live.lower_bound(JobId(*asked.page.after)) : live.end();
  while (end != live.begin() && jobs.size() < most) {
    --end;
    const core::Job& job = *end->second;
    const bool wanted = call.caller.sees(job.spec.tenant) &&
                        (asked.tenant.empty() || asked.tenant == job.spec.tenant) &&
                        (asked.name.empty() || asked.name == job.spec.name) &&
                        (asked.states.empty() || asked.states.contains(core::to_text(job.state())));
    if (wanted) jobs.push_back(end->second);
  }
  return jobs;
}

// Of the jobs that have left the state, those that are asked for; nothing where only others are.
std::vector<EndedRow> ended_rows(Rest& rest, const Call& call, const JobsAsked& asked) {
  EndedQuery query{.before = {},
                   .states = {},
                   .tenant = asked.tenant,
                   .name = asked.name,
                   .subtree = call.caller.tenant,
                   .below = {},
                   .limit = asked.page.limit + 1};
  if (call.caller.below != nullptr) query.below.assign(call.caller.below->begin(), call.caller.below->end());
  if (asked.page.after) query.before = JobId(*asked.page.after);
  for (const auto state : {core::JobState::kSucceeded, core::JobState::kFailed, core::JobState::kCancelled}) {
    if (asked.states.contains(core::to_text(state))) query.states.push_back(state);
  }
  if (query.states.empty() && !asked.states.empty()) return {};
  std::vector<EndedRow> rows;
  while (true) {
    auto part = rest.service().history().ended_jobs(query);
    const bool is_last = part.size() < static_cast<std::size_t>(query.limit);
    for (EndedRow& row : part) {
      query.before = row.id;
      // Some may have left since the picture was taken: there they are as they were.
      const bool is_listed = call.caller.sees(row.tenant) && !call.seen->state.jobs.contains(row.id);
      if (is_listed) rows.push_back(std::move(row));
    }
    // Those left out must not make the list end before its end.
    if (is_last || rows.size() >= static_cast<std::size_t>(query.limit)) return rows;
  }
}

// As it was kept when the job ended; only where that does not do is the job itself read.
std::string ended_line(Rest& rest, const Call& call, const EndedRow& row) {
  const bool as_kept = call.caller.tenant.empty() || !reason_may_name_jobs(row);
  if (as_kept) {
    if (auto text = listed_text(row, call.seen->clock, rest.options().currency)) return *std::move(text);
  }
  const auto job = rest.service().history().ended_job(row.id);
  return job == nullptr ? std::string() : whole_line(rest, call, *job);
}

struct Listed {
  std::vector<std::string> lines;  // the newest first
  std::optional<JobId> last;       // older ones come on the next page; none: this is the last page
};

// Rows that cannot be read are left out: such a page has fewer lines than it may, and older jobs come after it.
Listed list_of(Rest& rest, const Call& call, const JobsAsked& asked) {
  const auto limit = static_cast<std::size_t>(asked.page.limit);
  const auto jobs = live_jobs(call, asked);
  const auto rows = ended_rows(rest, call, asked);
  Listed listed;
  JobId last;
  auto job = jobs.begin();
  auto row = rows.begin();
  while (listed.lines.size() < limit && (job != jobs.end() || row != rows.end())) {
    std::string text;
    if (row == rows.end() || (job != jobs.end() && (*job)->id > row->id)) {
      last = (*job)->id;
      text = whole_line(rest, call, **job++);
    } else {
      last = row->id;
      text = ended_line(rest, call, *row++);
    }
    if (!text.empty()) listed.lines.push_back(std::move(text));
  }
  const bool has_more = job != jobs.end() || row != rows.end() || rows.size() > limit;
  if (has_more) listed.last = last;
  return listed;
}

std::string body_of(const Listed& listed, EventSeq as_of_seq) {
  std::string body = R"({"as_of_seq":)" + std::to_string(as_of_seq) + R"(,"items":[)";
  for (const std::string& line : listed.lines) body.append(body.back() == '[' ? "" : ",").append(line);
  const json next = listed.last ? json(make_cursor(kJobsList, listed.last->number())) : json(nullptr);
  return body + R"(],"next_cursor":)" + next.dump() + "}";
}

}  // namespace

void list_jobs(Rest& rest, Call call) {
  const auto page = read_page(call, kJobsList);
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto states = read_states(call);
  if (!states) return call.fail(bad_parameter(states.error()));
  const JobsAsked asked{.page = *page, .states = *states, .tenant = call.query("tenant"), .name = call.query("name")};
  call.reply(json_text_response(200, body_of(list_of(rest, call, asked), call.seen->as_of_seq)));
}

}  // namespace tidepool::live::http
