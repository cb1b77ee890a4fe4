// The objective: what each size is worth to one job, by how much it shortens the time that all jobs wait for each
// other. README.md derives it. Pure arithmetic on one job's row; of the other jobs it uses only how many have more left
// to do.
#pragma once

#include <cstdint>
#include <span>

#include <boost/container/small_vector.hpp>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/curve.hpp"
#include "policies/tidal/delay_cost.hpp"
#include "policies/tidal/remaining_work.hpp"

namespace tidepool::policies::tidal {

inline constexpr double kPressure = 3;         // c: the price that a job assumes, in units of jobs per slot
inline constexpr double kLevel = 1.25;         // up to which the weights of long jobs are levelled
inline constexpr double kPatience = 20;        // a job that has waited for this many times its own length counts twice
inline constexpr double kPatienceLeast = 600;  // seconds; no job is assumed to be shorter

// The cluster for one job; of several slot types, one of them.
struct SlotPool {
  int slots = 0;
  int slots_per_node = 1;
  Instant now;
  int type = 0;     // index into View::types
  double pace = 1;  // how many slots of the first type one of these is worth to most jobs (slot_types.hpp)
};
[[nodiscard]] SlotPool pool_of(const cluster::View& view);

// How long a job still takes, for its place among the others.
struct Length {
  double seconds = 1;    // on one slot, with the start that remains; less for a gang (README.md); > 0
  bool is_told = false;  // declared, or expected from similar jobs; false: estimated from how much it was served
  bool in_turn = false;  // of undeclared work and a fixed size, and a change stops it: it is served in turn
};
[[nodiscard]] Length length_of(const cluster::JobRow& job);
// On one slot of the type on which it takes least. Requires: at least one pool.
[[nodiscard]] Length length_of(const cluster::JobRow& job, std::span<const SlotPool> pools);

// Where a job's speed on a type is read: on that type or, if it was never measured there, on the first type on which it
// was measured, times what most jobs gain by the one type over the other (as Jayaram Subramanya et al., "Sia", SOSP
// 2023, section 3.4, from one measured size on). Without any measurement, the model's own estimate is used for the
// first type.
struct Reading {
  int type = 0;
  double factor = 1;
  [[nodiscard]] double goodput(const cluster::JobRow& job, cluster::Shape shape) const;
};
[[nodiscard]] Reading reading_of(const cluster::JobRow& job, const SlotPool& pool, std::span<const SlotPool> pools);

// How a job's weight rises while it holds nothing: by a share at each step, so that it changes at few times.
struct Waiting {
  Duration step;
  double share = 0;
};

class UtilityCurve {
 public:
  // `job` and its speed model must outlive this object.
  UtilityCurve(const cluster::JobRow& job, const SlotPool& pool, const Others& others);

  // Slots of one type among several. The job's weight is the same on each of them.
  struct Types {
    std::span<const SlotPool> pools;  // one per type of the cluster
    std::size_t of = 0;               // index into them
    int held_type = -1;               // of the slots that the job holds; -1 = none
  };
  UtilityCurve(const cluster::JobRow& job, const Types& types, const Others& others);

  // The other jobs have changed, or the job has waited until `now`: gives the same result as a new curve of the same
  // row and pool. Costs a few operations a size, as only the weight depends on either; what a size brings is kept.
  void reweigh(const Others& others, Instant now);
  // The pool, of one type, has this many slots from the next reweigh() on. Requires: the pool held all that the job
  // could use before, and does now.
  void set_slots(int slots);
  // The first time after `now` at which waiting changes the curve, for a job that holds nothing.
  [[nodiscard]] Instant changes_after(Instant now) const;

  // The worth of this shape from now on; `stays`: the job holds it already. 0 = it cannot run.
  [[nodiscard]] double in(cluster::Shape shape, bool stays) const;
  // All sizes from which it may choose. Its first choice is what it must have at any price: nothing, no more than it
  // holds, or what was promised to it.
  [[nodiscard]] Curve curve(int promised = 0) const;
  // Slots that it would keep at this price if its size could change, which it cannot now.
  [[nodiscard]] int held_at(double price) const;
  // What each slot that it holds would be worth to it then, including what it would cost to come back.
  [[nodiscard]] double worth_of_held() const;

 private:
  // A size on as few nodes as possible, on slots of one type.
  struct Weighed {
    int size = 0;
    bool own = false;  // of this worth's type
    double pace = 1;   // of the type
    double speed = 0;  // speed-up over one slot
    double moved = 0;  // worth per weight of moving there, of its own type
  };

  [[nodiscard]] double speed_up(cluster::Shape shape) const;
  [[nodiscard]] double moved_to(int size, double speed_up) const;
  [[nodiscard]] double share_that_stays(int size, double speed_up) const;
  [[nodiscard]] double lost_to_booting(int size, double speed_up) const;
  [[nodiscard]] double share_of_resuming() const;
  [[nodiscard]] double seconds_at_wanted() const;
  [[nodiscard]] double of_nothing() const;
  [[nodiscard]] Choice choice(int size, double moved) const;
  [[nodiscard]] Choice held_choice() const;
  [[nodiscard]] Curve open_curve(int promised) const;

  const cluster::JobRow* job_;
  SlotPool pool_;
  Reading reading_;
  int held_ = 0;
  bool here_ = true;   // the slots that it holds are of this type
  double alone_ = 0;   // useful steps a second on one slot
  double left_s_ = 0;  // on one slot
  bool in_turn_ = false;
  Waiting waiting_;
  DelayCost delay_cost_;
  double least_ = 1;  // slots for which its presence counts: its least size, or one where there are several types
  double narrow_factor_ = 1;  // of the weight: below 1 for a gang of unknown work on several types
  double slots_ = 0;          // of the cluster, in slots of the first type
  double speed_held_ = 0;     // speed-up at its present size; 0 = it holds nothing
  double resuming_ = 0;       // share of what it holds that releasing everything costs
  // Type by type, of each type ascending. These follow from row and pools and never change.
  boost::container::small_vector<Weighed, 5> sizes_;
  double weight_ = 0;
};

// The sizes that are weighed: within a node 1, 2, 4 and so on and the whole node, beyond it whole nodes, 2, 3, 4, 6, 8,
// 12 and so on; or those that the job allows; and what it holds, and wants.
using SizesWeighed = boost::container::small_vector<int, 8>;
[[nodiscard]] SizesWeighed sizes_weighed(const cluster::JobRow& job, const SlotPool& pool);

}  // namespace tidepool::policies::tidal
