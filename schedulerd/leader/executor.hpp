// What agents and workers must be told for the state to come true. Reads accepted decisions and the state, gives out
// orders; sends nothing itself, so that its caller can wait for the commit first. Pure: the daemon and the simulator
// drive the same one.
//
// Every message may be sent twice: an agent never starts a worker id twice, and a generation is
// fenced by its number. So after a reconnect everything that may have been missed is said again.
#pragma once

#include <optional>
#include <vector>

#include "api/worker_protocol.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/leader/address_book.hpp"
#include "schedulerd/leader/orders.hpp"

namespace tidepool::leader {

// The consequences of one decision: notes that go into its batch, orders that go out after it.
struct Effects {
  std::vector<NodeOrder> orders;
  std::vector<WorkerId> started;
};

// The states of a failed job stay for so long after its end, so that its user can look into them.
inline constexpr Duration kFailedStatesStay = Duration::seconds(24 * 3'600);

class Executor {
 public:
  // `state` is that after accept().
  [[nodiscard]] Effects carry_out(const core::Decision& decision, const core::ClusterState& state);

  // Everything that `node`, which has just joined with these workers running, may have missed.
  [[nodiscard]] std::vector<Order> catch_up(NodeId node, const std::vector<WorkerId>& running,
                                            const core::ClusterState& state) const;

  // A worker's link is back and it is in `generation`: if there is a newer one, it is told.
  [[nodiscard]] std::vector<NodeOrder> on_relink(WorkerId worker, GenerationNumber generation,
                                                 const core::ClusterState& state) const;
  // Its program has answered a notice: all that leave with it are told by when they have to be gone now.
  [[nodiscard]] static std::vector<NodeOrder> on_answer(WorkerId worker, const core::ClusterState& state);
  // The members are to take a checkpoint. Requires: the job exists.
  [[nodiscard]] static std::vector<NodeOrder> order_checkpoint(JobId job, const core::ClusterState& state);
  // The order to forget the states of a job that has ended at that time.
  [[nodiscard]] static api::ForgetJob forget_order(JobId job, bool failed, Instant ended, Instant now);
  // A rank has published its address; once all have, all addresses go to every member.
  [[nodiscard]] std::vector<NodeOrder> on_address(WorkerId worker, const api::AddressMessage& address,
                                                  const core::ClusterState& state);

 private:
  // All addresses of the newest generation, once they may be sent: an agent starts a restartable program when it gets
  // them.
  [[nodiscard]] std::optional<api::AddressesMessage> told_addresses(const core::Job& job, int rank) const;
  // What the worker is told of them; none where it is no member.
  [[nodiscard]] std::optional<api::ToWorkerOrder> addresses_for(WorkerId member, const core::Job& job) const;

  AddressBook addresses_;
};

}  // namespace tidepool::leader
