// What jobs have used, for accounting.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "core/state/account.hpp"
#include "core/state/utc_time.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/usage/usage_sums.hpp"

namespace tidepool::live::http {
namespace {

constexpr int kJobsPerTurn = 200;  // so that other requests are answered meanwhile
constexpr std::size_t kRowsMost = 100'000;

// One request on its way through the jobs: those of the picture first, then those that have left it, newest first.
struct UsageRun {
  Rest& rest;
  Call call;
  UsageSums sums;
  Instant since;  // jobs that ended before have used nothing in the range
  std::optional<JobId> before;
};

void add_present(UsageRun& run) {
  const Published& seen = *run.call.seen;
  for (const auto& [id, job] : seen.state.jobs) {
    if (!run.call.caller.sees(job->spec.tenant)) continue;
    core::Job charged = *job;
    core::charge(seen.state, charged, seen.now);
    run.sums.add(seen.state, charged);
  }
}

void finish(const UsageRun& run) {
  nlohmann::json body = run.sums.body();
  body["currency"] = run.rest.options().currency;
  body["as_of_seq"] = run.call.seen->as_of_seq;
  run.call.reply(200, body);
}

void add_ended(const std::shared_ptr<UsageRun>& run) {
  const Published& seen = *run->call.seen;
  const auto jobs = run->rest.service().history().ended_since(run->since, run->before, kJobsPerTurn);
  for (const auto& job : jobs) {
    // One that has left since the picture was made is in both.
    if (seen.state.find_job(job->id) == nullptr && run->call.caller.sees(job->spec.tenant)) {
      run->sums.add(seen.state, *job);
    }
    run->before = job->id;
  }
  if (run->sums.rows() > kRowsMost) {
    return run->call.fail({.status = 422,
                           .code = "TooManyRows",
                           .detail = "there are more than 100,000 rows",
                           .hint = "ask for fewer days, or by fewer keys"});
  }
  if (jobs.empty()) return finish(*run);
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
  const Instant since = core::at_utc(state, range->from * kDayMicros);
  const auto run = std::make_shared<UsageRun>(UsageRun{
      .rest = rest, .call = std::move(call), .sums = {*range, *std::move(keys)}, .since = since, .before = {}});
  add_present(*run);
  add_ended(run);
}

}  // namespace tidepool::live::http
