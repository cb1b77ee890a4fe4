#include "core/state/ledger.hpp"

#include <algorithm>

#include "base/accrual.hpp"

namespace tidepool::core {
namespace {

// `part` of `whole` of it, rounded down. Requires: 0 <= part <= whole, whole > 0.
Used share_of(Used used, std::int64_t part, std::int64_t whole) {
  __extension__ using Product = __int128;
  const auto of = [&](std::int64_t value) {
    return static_cast<std::int64_t>(static_cast<Product>(value) * part / whole);
  };
  return {.slot_time = Duration::micros(of(used.slot_time.count_us())),
          .cost = Money::micros(of(used.cost.count_micros()))};
}

void move_useful(Account& account, Used moved, Overhead overhead) {
  const Used useful = useful_of(account);
  moved.slot_time = std::min(moved.slot_time, useful.slot_time);
  // Boot costs are rounded down separately: one millionth that they have begun may still be taken from the useful part.
  const Money begun = Money::micros(account.cost_remainder < account.boot_remainder ? 1 : 0);
  moved.cost = std::min(moved.cost, std::max(Money(), useful.cost - begun));
  account.overheads[overhead] = account.overheads[overhead] + moved;
}

}  // namespace

const char* to_text(Overhead overhead) {
  switch (overhead) {
    case Overhead::kBootAndResize: return "boot_and_resize";
    case Overhead::kStragglers: return "stragglers";
    case Overhead::kIdle: return "idle";
    case Overhead::kLostToPreemption: return "lost_to_preemption";
    case Overhead::kLostToFailure: return "lost_to_failure";
  }
  return "";
}

Stepping::Stepping(const Job& job) : membership_(job.membership) {
  const Transition* transition = job.phase.transition();
  if (transition == nullptr) return;
  joining_.insert(transition->joining_workers.begin(), transition->joining_workers.end());
  leaving_.insert(transition->leaving_workers.begin(), transition->leaving_workers.end());
}

bool Stepping::operator()(const Worker& worker) const {
  // Until the members have switched, the members of the previous generation continue to step, including those that
  // leave.
  const bool is_stepping = membership_.switched || (membership_.commit.from_size > 0 && !membership_.parking);
  if (!is_stepping || (!membership_.switched && joining_.contains(worker.id))) return false;
  return worker.phase == WorkerPhase::kMember || leaving_.contains(worker.id);
}

Used useful_of(const Account& account) {
  return Used{account.slot_time, account.cost} - account.overheads.total();
}

void book_wait(const ClusterState& state, Job& job, Duration lasted, Overhead overhead) {
  // Reports may contain wild values: beyond the job's age a value would only make the product too large.
  lasted = std::min(lasted, job.account.charged_until - job.submitted_at);
  if (lasted <= Duration()) return;
  const HeldSlots held = held_slots(state, job, Stepping(job));
  Used moved{.slot_time = lasted * held.slots, .cost = {}};
  std::int64_t remainder = 0;
  accrue(held.rate, lasted, moved.cost, remainder);
  move_useful(job.account, moved, overhead);
}

void book_saved(Job& job, std::int64_t step) {
  job.account.saved.step = step;
  job.account.saved.useful = useful_of(job.account);
}

void book_saved_on_leaving(Job& job, std::int64_t step) {
  book_saved(job, step);
  job.account.saved.lost_at_leave = job.account.overheads[Overhead::kLostToPreemption].slot_time;
}

void book_lost_steps(Job& job, std::int64_t step) {
  Account& account = job.account;
  const std::int64_t since = job.progress.step - account.saved.step;
  const std::int64_t lost = std::min(job.progress.step - step, since);
  if (lost > 0) {
    const bool failed = job.recovery.restarts > account.saved.restarts;
    const Used useful = useful_of(account);
    const Used done{.slot_time = std::max(Duration(), useful.slot_time - account.saved.useful.slot_time),
                    .cost = std::max(Money(), useful.cost - account.saved.useful.cost)};
    move_useful(account, share_of(done, lost, since), failed ? Overhead::kLostToFailure : Overhead::kLostToPreemption);
  }
  book_saved(job, step);
}

void book_stepping(Job& job) {
  job.account.saved.restarts = job.recovery.restarts;
}

}  // namespace tidepool::core
