// What jobs have used, and what the pool had that no job held, for accounting.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "core/state/account.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/usage/usage_sums.hpp"

namespace tidepool::live::http {
namespace {

constexpr int kJobsPerTurn = 50;  // so that other requests are answered meanwhile

// One request on its way through the jobs: those of the picture first, then those that have left it.
struct UsageRun {
  Rest& rest;
  Call call;
  UsageSums sums;
  EndedRange range;           // others have used nothing in these days
  std::size_t looked_at = 0;  // of them
};

std::string counted_above(std::size_t most, const std::string& what) {
  return "there are more than " + core::grouped(static_cast<double>(most)) + " " + what;
}

// True: the request is answered with what it may ask for instead.
bool is_refused(const UsageRun& run) {
  const RestOptions& most = run.rest.options();
  if (run.sums.rows() > most.usage_rows_max) {
    run.call.fail({.status = 422,
                   .code = "TooManyRows",
                   .detail = counted_above(most.usage_rows_max, "rows"),
                   .hint = "ask for fewer days, or by fewer keys"});
    return true;
  }
  if (run.looked_at <= most.usage_jobs_max) return false;
  run.call.fail({.status = 422,
                 .code = "TooManyJobs",
                 .detail = counted_above(most.usage_jobs_max, "jobs that have ended since the first day"),
                 .hint = "give a later first day; ask for each month soon after it has ended"});
  return true;
}

// False: it is refused.
bool add_present(UsageRun& run) {
  const Published& seen = *run.call.seen;
  for (const auto& [id, job] : seen.state.jobs) {
    if (!run.call.caller.sees(job->spec.tenant)) continue;
    run.sums.add(seen.state, *job, core::account_at(seen.state, *job, seen.now));
    if (is_refused(run)) return false;
  }
  return true;
}

// The pool is no tenant's, so its account is for those who run all of it.
void add_pool(UsageRun& run) {
  if (!run.call.caller.is_pool_admin()) return;
  const Published& seen = *run.call.seen;
  core::PoolLedger ledger = seen.state.pool_ledger;
  ledger.count_until(seen.now, seen.state.utc_us_at_zero);
  run.sums.add_pool(ledger);
}

void finish(const UsageRun& run) {
  nlohmann::json body = run.sums.body();
  body["currency"] = run.rest.options().currency;
  body["as_of_seq"] = run.call.seen->as_of_seq;
  run.call.reply(200, body);
}

void add_ended(const std::shared_ptr<UsageRun>& run) {
  const Published& seen = *run->call.seen;
  const EndedPart part = run->rest.service().history().ended_in(run->range, kJobsPerTurn);
  for (const auto& job : part.jobs) {
    // One that has left since the picture was made is in both.
    if (seen.state.find_job(job->id) == nullptr) run->sums.add(seen.state, *job, job->account);
  }
  if (part.next) run->looked_at += std::size_t{kJobsPerTurn};
  if (is_refused(*run)) return;
  if (!part.next) return finish(*run);
  run->range.after = part.next;
  run->rest.io().post([run] { add_ended(run); });
}

}  // namespace

void get_usage(Rest& rest, Call call) {
  const core::ClusterState& state = call.seen->state;
  const std::int64_t today = core::day_in_utc(state, call.seen->now);
  const auto range = read_range({call.query("window"), call.query("from"), call.query("to")}, today);
  if (!range.ok()) return call.fail(bad_parameter(range.error()));
  auto keys = read_keys(call.query("by"));
  if (!keys.ok()) return call.fail(bad_parameter(keys.error()));
  EndedRange ended{.since = core::at_utc(state, range->from * kDayMicros),
                   .until = core::at_utc(state, (range->to + 1) * kDayMicros),
                   .after = std::nullopt,
                   .sees = [caller = call.caller](const std::string& tenant) { return caller.sees(tenant); }};
  const auto run = std::make_shared<UsageRun>(
      UsageRun{.rest = rest, .call = std::move(call), .sums = {*range, *std::move(keys)}, .range = std::move(ended)});
  if (!add_present(*run)) return;
  add_pool(*run);
  add_ended(run);
}

}  // namespace tidepool::live::http
