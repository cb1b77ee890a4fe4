#include "core/state/job_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "core/state/budget_hold.hpp"

namespace tidepool::core {
namespace {

using S = JobState;

struct Change {
  JobState from;
  JobState to;
};

// A job may end from every state that is not final; those lines are in may_become.
constexpr Change kLegal[] = {
    {S::kPending, S::kStarting},      // a gang fits
    {S::kPending, S::kSuspended},     // suspended while it waited
    {S::kPending, S::kRunning},       // its members, whose nodes were all lost, are back and step
    {S::kStarting, S::kRunning},      // the first generation steps
    {S::kStarting, S::kPending},      // all first workers died
    {S::kStarting, S::kSuspending},   // ordered to park, or too few first workers came up
    {S::kStarting, S::kSuspended},    // suspended with nothing left to stop
    {S::kRunning, S::kResizing},      // a transition begins
    {S::kRunning, S::kPending},       // all workers died at once
    {S::kRunning, S::kSuspending},    // ordered to park, or too few survivors
    {S::kRunning, S::kSuspended},     // suspended with nothing left to stop
    {S::kResizing, S::kRunning},      // switched, or the transition was dropped
    {S::kResizing, S::kPending},      // all workers died at once
    {S::kResizing, S::kSuspending},   // ordered to park, or too few survivors
    {S::kResizing, S::kSuspended},    // suspended with nothing left to stop
    {S::kSuspending, S::kSuspended},  // parked as the user asked
    {S::kSuspending, S::kPending},    // parked because too few workers were left; waits for slots
    {S::kSuspended, S::kPending},     // resumed
};

}  // namespace

bool may_become(JobState from, JobState to) {
  if (is_final(from)) return false;
  if (is_final(to)) return true;
  for (const auto& change : kLegal) {
    if (change.from == from && change.to == to) return true;
  }
  return false;
}

void become(Job& job, JobPhase to) {
  const JobState from = job.state();
  TP_CHECK(from == to.state() || may_become(from, to.state()),
           "a job changes its state along the table in job_state.cpp");
  job.phase = std::move(to);
}

void drop_transition(Job& job) {
  if (job.state() == JobState::kResizing) become(job, phase::Running{});
  if (job.state() == JobState::kStarting) become(job, phase::Starting{});
}

bool is_active(JobState state) {
  return state == S::kStarting || state == S::kRunning || state == S::kResizing;
}

bool runs_unchanged(const Job& job) {
  return job.state() == JobState::kRunning && job.membership.switched && !job.phase.transition();
}

Duration time_to_finish(const Job& job) {
  return std::max(job.spec.elastic.grace, Duration::seconds(600));
}

int allowed_size(const Job& job, int most) {
  const auto& sizes = job.spec.elastic.sizes;
  if (is_shrunk(job)) return sizes.front();
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), most);
  return above == sizes.begin() ? sizes.front() : *std::prev(above);
}

}  // namespace tidepool::core
