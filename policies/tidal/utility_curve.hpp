// The objective: what each size is worth to one job, by how much it shortens what all jobs wait for each other.
// README.md derives it. Pure arithmetic on one job's row; all it knows of the others is how many of them have more left
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

inline constexpr double kPressure = 3;         // c: the price that a job reckons with, in units of jobs per slot
inline constexpr double kLevel = 1.25;         // up to which the weights of long jobs are levelled
inline constexpr double kPatience = 20;        // a job that has waited for so many times its own length counts twice
inline constexpr double kPatienceLeast = 600;  // seconds; none is taken to be shorter

// The cluster as one job sees it; of several slot types, one of them.
struct SlotPool {
  int slots = 0;
  int slots_per_node = 1;
  Instant now;
  int type = 0;     // index into View::types
  double pace = 1;  // how many slots of the first type one of these is worth to most jobs (slot_types.hpp)
};
[[nodiscard]] SlotPool pool_of(const cluster::View& view);

// How long a job still takes, as its place among the others goes by it.
struct Length {
  double seconds = 1;    // on one slot, with the start that it owes; less for a gang (README.md); > 0
  bool is_told = false;  // declared, or expected from others of its kind; else reckoned by how much it was served
  bool in_turn = false;  // of undeclared work and a fixed size, and a change stops it: it is served in turn
};
[[nodiscard]] Length length_of(const cluster::JobRow& job);
// On one slot's worth of whichever type takes it least. Requires: at least one pool.
[[nodiscard]] Length length_of(const cluster::JobRow& job, std::span<const SlotPool> pools);

// Where a job's speed on a type is read: there, or, where it was never measured, on the first type that was, times what
// most jobs gain by the one over the other (as Jayaram Subramanya et al., "Sia", SOSP 2023, section 3.4, from one
// measured size on). Where nothing was measured anywhere, the model's own guess stands for the first type.
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
  // `job` and its speed model are read during the life of the worth.
  UtilityCurve(const cluster::JobRow& job, const SlotPool& pool, const Others& others);

  // Of slots of one type among several. Its weight is the same on each of them.
  struct Types {
    std::span<const SlotPool> pools;  // one per type of the cluster
    std::size_t of = 0;               // index into them
    int held_type = -1;               // of the slots that the job holds; -1 = none
  };
  UtilityCurve(const cluster::JobRow& job, const Types& types, const Others& others);

  // There are other jobs now, or it has waited until `now`: makes it what a new one of the same row and pool would
  // be. Costs a few operations a size, as only the weight depends on either; what a size brings is kept.
  void reweigh(const Others& others, Instant now);
  // The pool, of one type, has so many from the next reweigh() on. Requires: the job could have all that it may use
  // before, and can now.
  void set_slots(int slots);
  // The first time after `now` at which that makes another of it, for a job that holds nothing.
  [[nodiscard]] Instant changes_after(Instant now) const;

  // Of holding this shape from now on; `stays`: it is what the job holds already. 0 = it cannot run.
  [[nodiscard]] double in(cluster::Shape shape, bool stays) const;
  // All sizes it may choose from. Its first choice is what it must have at any price: nothing, no more than it holds,
  // or what was promised to it.
  [[nodiscard]] Curve curve(int promised = 0) const;
  // Slots that it would go on holding at this price if its size could change, which it cannot now.
  [[nodiscard]] int held_at(double price) const;
  // What each slot that it holds would be worth to it then, with what it would cost to come back.
  [[nodiscard]] double worth_of_held() const;

 private:
  // A size on as few nodes as possible, on slots of one type.
  struct Weighed {
    int size = 0;
    bool own = false;  // of this worth's type
    double pace = 1;   // of the type
    double speed = 0;  // speed-up over one slot
    double moved = 0;  // worth per weight of going there, of its own type
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
  bool here_ = true;   // what it holds is of this type
  double alone_ = 0;   // useful steps a second on one slot
  double left_s_ = 0;  // on one slot
  bool in_turn_ = false;
  Waiting waiting_;
  DelayCost delay_cost_;
  double least_ = 1;          // slots that its presence counts for: its least size, one where there are several types
  double narrow_factor_ = 1;  // of the weight: below 1 for a gang of unknown work on several types
  double slots_ = 0;          // of the cluster, in slots of the first type
  double speed_held_ = 0;     // speed-up where it is; 0 = it holds nothing
  double resuming_ = 0;       // share of what it holds that giving up everything costs
  // Type by type, of each type ascending. These follow from row and pools and never change.
  boost::container::small_vector<Weighed, 5> sizes_;
  double weight_ = 0;
};

// The sizes that are weighed: within a node 1, 2, 4 and so on and the whole node, beyond it whole nodes, 2, 3, 4, 6, 8,
// 12 and so on; or those that the job allows; and what it holds, and wants.
using SizesWeighed = boost::container::small_vector<int, 8>;
[[nodiscard]] SizesWeighed sizes_weighed(const cluster::JobRow& job, const SlotPool& pool);

}  // namespace tidepool::policies::tidal
