#include "policies/tidal/utility_curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::packed;
using cluster::Shape;
using cluster::size_of;

constexpr double kLeastLeft = 1;       // seconds
constexpr double kPatienceMost = 3e9;  // seconds
constexpr double kPatienceParts = 8;   // resolution of waiting
constexpr double kPinned = 1'000;      // what a user insists on of what a job holds goes before what a policy weighs
constexpr double kHorizon = 350;       // seconds; a change of size must pay within this time, or before the job ends
constexpr int kGrowth = 4;             // sizes up to this many times the largest measured one are tried

// In the place of kPatience. What a job of unknown length was served says less of what it has left; those of a fixed
// size are served in turn, so that waiting only tells apart those that were served alike.
constexpr double kPatienceUnknown = 8;
constexpr double kPatienceInTurn = 1'000;

// For a job of unknown length: first this much service, then this factor more each time.
constexpr double kServedFirst = 3'600;  // slot-seconds
constexpr double kServedFactor = 16;
constexpr double kServedFactorFree = 2;  // likewise, of one that no change stops: taking turns costs nothing
// Likewise, of one of a fixed size, in classes up to 16 slot-hours: one that has run for longer is served in turn.
constexpr double kServedFactorFixed = 4;
constexpr double kServedMostFixed = 57'600;

double alone(const JobRow& job, const Reading& reading) {
  const double goodput = reading.goodput(job, {.nodes = 1, .size = 1});
  if (goodput > 0) return goodput;
  // A job that does not run on one slot is measured by its smallest size.
  return reading.goodput(job, {.nodes = 1, .size = job.size_min}) / job.size_min;
}

// On one slot's worth, in slots of the first type, of the type that is best for it at the usual prices.
double alone(const JobRow& job, std::span<const SlotPool> pools) {
  double best = 0;
  for (const SlotPool& pool : pools) {
    best = std::max(best, alone(job, reading_of(job, pool, pools)) / pool.pace);
  }
  return best;
}

// Half as many again and a third as many again in turn: few sizes, none far from the next.
void add_nodes(SizesWeighed& sizes, int slots_per_node, int most) {
  for (int nodes = 2; nodes <= most / slots_per_node; nodes *= 2) {
    sizes.push_back(nodes * slots_per_node);
    if (nodes + nodes / 2 <= most / slots_per_node) sizes.push_back((nodes + nodes / 2) * slots_per_node);
  }
}

Duration transition_to(const JobRow& job, int held, int size) {
  const cluster::TransitionCosts& costs = cluster::costs_at(job, size);
  const Duration told = held == 0 ? costs.start : size > held ? costs.grow : size == held ? costs.move : costs.shrink;
  return told > Duration() ? told : job.transition;
}

// What a job that runs has.
bool is_sound(double speed_up) {
  return speed_up > 0 && std::isfinite(speed_up);
}

// Whether giving slots up or getting them ever stops it.
bool is_stopped(const JobRow& job) {
  return std::max({job.transition, job.costs.grow, job.costs.shrink, job.costs.move, job.costs.start}) > Duration();
}

// It has no choice but when it runs.
bool is_fixed(const JobRow& job) {
  return job.size_min == job.size_max && !job.grows_later;
}

// Of undeclared work, of a fixed size and stopped by a change. What its kin let expect does not count: where work is
// heavy-tailed, each job would be expected to take longer the longer it has run, and all would take turns.
// `pace`: useful steps a second on one slot; 0 = not known.
bool takes_turns(double pace, const JobRow& job) {
  return is_fixed(job) && is_stopped(job) && !(job.useful_left && pace > 0);
}

// As much again as it was served, in few wide classes, so that equals do not take turns where that costs.
// `types`: of slots; on several, a turn costs the slots that suit the job best.
double seconds_unknown(double pace, std::size_t types, const JobRow& job) {
  const bool in_turn = takes_turns(pace, job);
  const double factor = in_turn ? kServedFactorFixed : is_stopped(job) || types > 1 ? kServedFactor : kServedFactorFree;
  const double most = in_turn ? kServedMostFixed : job.slot_seconds;
  const double times = std::log(std::max(1.0, std::min(job.slot_seconds, most) / kServedFirst));
  return kServedFirst * std::pow(factor, std::floor(times / std::log(factor) + 1e-9));
}

std::optional<double> seconds_told(double pace, const JobRow& job) {
  if (takes_turns(pace, job)) return std::nullopt;
  const std::optional<double>& left = job.useful_left ? job.useful_left : job.useful_expected;
  if (!left || !(pace > 0)) return std::nullopt;
  return std::max(kLeastLeft, *left / pace);
}

// What a start takes is work left, too.
double seconds_owed(const JobRow& job) {
  return job.placement.empty() ? transition_to(job, 0, job.size_min).to_seconds() * job.size_min : 0;
}

Length length_at(double pace, std::size_t types, const JobRow& job) {
  const std::optional<double> told = seconds_told(pace, job);
  if (!told) return {.seconds = seconds_unknown(pace, types, job), .in_turn = takes_turns(pace, job)};
  return {.seconds = (*told + seconds_owed(job)) / std::sqrt(double(job.size_min)), .is_told = true};
}

Waiting waiting_of(const Length& length) {
  const double times = length.in_turn ? kPatienceInTurn : length.is_told ? kPatience : kPatienceUnknown;
  const double parts = length.in_turn ? kPatienceInTurn : kPatienceParts;
  const double patience_s = std::clamp(times * length.seconds, kPatienceLeast, kPatienceMost);
  return {.step = Duration::from_seconds(patience_s / parts), .share = 1 / parts};
}

// How many steps a job has been in the system without holding anything.
std::int64_t steps_waited(const JobRow& job, Instant now, const Waiting& waiting) {
  const Duration waited = now - job.submitted - job.held;
  return std::max<std::int64_t>(0, waited.count_us() / waiting.step.count_us());
}

}  // namespace

SlotPool pool_of(const cluster::View& view) {
  return {.slots = view.slots(), .slots_per_node = std::max(1, view.slots_per_node()), .now = view.now};
}

double Reading::goodput(const JobRow& job, Shape shape) const {
  shape.type = type;
  return factor * job.speed->goodput(shape);
}

Reading reading_of(const JobRow& job, const SlotPool& pool, std::span<const SlotPool> pools) {
  if (job.speed->knows(pool.type)) return {.type = pool.type};
  for (const SlotPool& other : pools) {
    if (job.speed->knows(other.type)) return {.type = other.type, .factor = pool.pace / other.pace};
  }
  return {.type = pools.front().type, .factor = pool.pace / pools.front().pace};
}

Length length_of(const JobRow& job) {
  const SlotPool any;
  return length_of(job, std::span(&any, 1));
}

Length length_of(const JobRow& job, std::span<const SlotPool> pools) {
  const bool tells = job.useful_left || job.useful_expected;
  return length_at(tells ? alone(job, pools) : 0, pools.size(), job);
}

SizesWeighed sizes_weighed(const JobRow& job, const SlotPool& pool) {
  const int grown = std::max(pool.slots_per_node, kGrowth * job.largest_seen);
  const int most = std::min({job.size_max, std::max(grown, job.size_min), pool.slots});
  const int held = size_of(job.placement);
  const bool may_stay = held > 0 && may_have(job, held);
  if (!job.sizes.empty()) {
    SizesWeighed sizes(job.sizes.begin(), std::upper_bound(job.sizes.begin(), job.sizes.end(), most));
    if (may_stay && held > most) sizes.push_back(held);
    return sizes;
  }
  SizesWeighed sizes;
  for (int size = 1; size < pool.slots_per_node; size *= 2) sizes.push_back(size);
  sizes.push_back(pool.slots_per_node);
  add_nodes(sizes, pool.slots_per_node, most);
  sizes.push_back(job.size_min);
  const auto is_out = [&](int size) { return size > most || !may_have(job, size); };
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(), is_out), sizes.end());
  if (may_stay) sizes.push_back(held);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

UtilityCurve::UtilityCurve(const JobRow& job, const SlotPool& pool, const Others& others)
    : UtilityCurve(job, {.pools = std::span(&pool, 1), .of = 0, .held_type = pool.type}, others) {}

UtilityCurve::UtilityCurve(const JobRow& job, const Types& types, const Others& others)
    : job_(&job),
      pool_(types.pools[types.of]),
      reading_(reading_of(job, pool_, types.pools)),
      held_(size_of(job.placement)),
      here_(held_ == 0 || types.held_type == pool_.type),
      alone_(alone(job, types.pools)),
      left_s_(seconds_told(alone_, job).value_or(seconds_unknown(alone_, types.pools.size(), job))) {
  const Length length = length_at(alone_, types.pools.size(), job);
  in_turn_ = length.in_turn;
  waiting_ = waiting_of(length);
  if (held_ > 0) speed_held_ = speed_up({.nodes = static_cast<int>(job.placement.size()), .size = held_});
  resuming_ = share_of_resuming();
  if (types.pools.size() == 1) least_ = job.size_min;
  if (types.pools.size() > 1 && is_fixed(job) && !length.is_told) narrow_factor_ = 1 / std::sqrt(double(job.size_min));
  for (std::size_t type = 0; type < types.pools.size(); ++type) {
    const SlotPool& pool = types.pools[type];
    slots_ += pool.slots * pool.pace;
    const Reading reading = reading_of(job, pool, types.pools);
    const SizesWeighed weighed = sizes_weighed(job, pool);
    sizes_.reserve(sizes_.size() + weighed.size());
    for (const int size : weighed) {
      const double speed = alone_ > 0 ? reading.goodput(job, packed(size, pool.slots_per_node)) / alone_ : 0;
      const bool own = type == types.of;
      sizes_.push_back(
          {.size = size, .own = own, .pace = pool.pace, .speed = speed, .moved = own ? moved_to(size, speed) : 0});
    }
  }
  delay_cost_ = DelayCost(job, seconds_at_wanted());
  reweigh(others, pool_.now);
}

// What it still takes on as many slots as it wants, of the type on which it is fastest.
double UtilityCurve::seconds_at_wanted() const {
  double fastest = 0;
  for (const Weighed& at : sizes_) {
    if (at.size <= job_->size_wanted) fastest = std::max(fastest, at.speed);
  }
  return left_s_ / (is_sound(fastest) ? fastest : 1);
}

Instant UtilityCurve::changes_after(Instant now) const {
  const std::int64_t next = steps_waited(*job_, now, waiting_) + 1;
  const Instant waited = job_->submitted + job_->held + Duration::micros(next * waiting_.step.count_us());
  return std::min(waited, delay_cost_.changes_after(now).value_or(waited));
}

void UtilityCurve::reweigh(const Others& others, Instant now) {
  const double price = kPressure * (in_turn_ ? others.in_turn : others.behind) / std::max(1.0, slots_);
  double cheapest = 0;
  for (const Weighed& at : sizes_) {
    const double cost = (least_ + price * at.pace * at.size) / at.speed;
    if (at.speed > 0 && (cheapest == 0 || cost < cheapest)) cheapest = cost;
  }
  // A job that can be promised its deadline has that; the end of all is not its concern.
  const bool levelled = cheapest > 0 && !is_fixed(*job_) && !(job_->deadline && job_->useful_left);
  const double levelling = levelled ? others.levelling : 0;
  cheapest += levelling * std::max(0.0, kLevel - cheapest);
  cheapest *= narrow_factor_;
  const double first = job_->pinned > 0 && held_ > 0 ? kPinned : 1;
  const double waited = 1 + waiting_.share * static_cast<double>(steps_waited(*job_, now, waiting_));
  weight_ = first * job_->weight * delay_cost_.factor(now) * cheapest * waited;
}

void UtilityCurve::set_slots(int slots) {
  pool_.slots = slots;
  slots_ = slots * pool_.pace;
}

double UtilityCurve::speed_up(Shape shape) const {
  return alone_ > 0 ? reading_.goodput(*job_, shape) / alone_ : 0;
}

// What is left of the time before the horizon, or before the job ends, when it stands still for the change. A job
// that holds nothing owes a start whenever it comes: that is no reason against starting now.
double UtilityCurve::share_that_stays(int size, double speed_up) const {
  if (held_ == 0) return 1;
  const double still = transition_to(*job_, held_, size).to_seconds();
  const double horizon = std::min(kHorizon, still + left_s_ / speed_up);
  return horizon > 0 ? std::max(0.0, 1 - still / horizon) : 1;
}

double UtilityCurve::in(Shape shape, bool stays) const {
  const double speed = speed_up(shape);
  if (!is_sound(speed)) return 0;
  return weight_ * (stays ? speed : moved_to(shape.size, speed));
}

double UtilityCurve::moved_to(int size, double speed_up) const {
  if (!is_sound(speed_up)) return 0;
  return speed_up * share_that_stays(size, speed_up) - lost_to_booting(size, speed_up);
}

// While joining workers boot, the job goes on as it was on slots that it has and on slots that do nothing.
double UtilityCurve::lost_to_booting(int size, double speed_up) const {
  if (held_ == 0 || size <= held_) return 0;
  const double boot = cluster::costs_at(*job_, size).boot.to_seconds();
  if (boot <= 0) return 0;
  const double horizon = std::min(kHorizon, boot + left_s_ / speed_up);
  return std::max(0.0, speed_up - speed_held_) * std::min(1.0, boot / horizon);
}

// Giving up everything is paid for by the job that does: it has to start again later, and what it holds is worth more
// to it by the share of that in what others gain from its slots, which is until it would have ended, at most up to the
// horizon. One of a single size is given up to a job that ends before it would have, on average in half its time left.
double UtilityCurve::share_of_resuming() const {
  if (held_ == 0 || !is_sound(speed_held_)) return 0;
  const Duration told = job_->costs.resume > Duration() ? job_->costs.resume : job_->transition;
  const double resume = told.to_seconds();
  if (resume <= 0) return 0;
  const double to_end = left_s_ / speed_held_;
  if (is_fixed(*job_)) return resume / (resume + to_end / 2);
  return resume / std::min(kHorizon, to_end);
}

double UtilityCurve::of_nothing() const {
  return resuming_ > 0 ? -weight_ * speed_held_ * resuming_ : 0;
}

// On as few nodes as possible; for the size that it holds either that or where it is, whichever is worth more.
Choice UtilityCurve::choice(int size, double moved) const {
  const double worth = weight_ * moved;
  if (size != held_ || !here_) return {.size = size, .worth = worth};
  return {.size = size, .worth = std::max(worth, is_sound(speed_held_) ? weight_ * speed_held_ : 0)};
}

Choice UtilityCurve::held_choice() const {
  return choice(held_, moved_to(held_, speed_up(packed(held_, pool_.slots_per_node))));
}

Curve UtilityCurve::curve(int promised) const {
  // What it must keep is on another type.
  if (!here_ && (job_->resize_blocked || !job_->preemptible)) return {Choice{}};
  if (job_->resize_blocked) return {held_choice()};
  return open_curve(promised);
}

// Of a job whose size may change.
Curve UtilityCurve::open_curve(int promised) const {
  const bool keeps = promised > 0 || (held_ > 0 && !job_->preemptible);
  Curve curve;
  curve.reserve(sizes_.size() + 1);
  if (!keeps) curve.push_back({.size = 0, .worth = of_nothing()});
  for (const Weighed& at : sizes_) {
    const bool open = at.own && (job_->pinned == 0 || at.size == job_->pinned || at.size == held_);
    if (!open || at.size < promised) continue;
    const Choice made = choice(at.size, at.moved);
    // The least that a job keeps counts even where nothing is known of it.
    if (made.worth > 0 || (keeps && curve.empty())) curve.push_back(made);
  }
  if (curve.empty()) curve.push_back(held_choice());
  return curve;
}

int UtilityCurve::held_at(double price) const {
  const Curve curve = open_curve(0);
  const Corners corners = hull_of(curve);
  std::size_t at = 0;
  while (at + 1 < corners.size()) {
    const Choice& now = curve[corners[at]];
    const Choice& next = curve[corners[at + 1]];
    if ((next.worth - now.worth) / (next.size - now.size) < price) break;
    ++at;
  }
  return std::min(held_, curve[corners[at]].size);
}

double UtilityCurve::worth_of_held() const {
  const Curve curve = open_curve(0);
  const auto above = std::find_if(curve.begin(), curve.end(), [&](const Choice& any) { return any.size > held_; });
  return worth_each(curve, above == curve.begin() ? curve.front() : *std::prev(above));
}

}  // namespace tidepool::policies::tidal
