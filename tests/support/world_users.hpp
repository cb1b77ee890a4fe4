// What users and operators ask for in a simulated world: jobs, changes of these, drains, labels, maintenance.
//
// Safe rule. They may ask for anything, also of jobs that have ended and what is impossible: the engine refuses it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/place/placement.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/random_wishes.hpp"
#include "tests/support/world_training.hpp"

namespace tidepool::test {

class WorldUsers : public WorldTraining {
 public:
  using WorldTraining::WorldTraining;

  // Nodes have racks and disks, which operators change, and half of the jobs ask for some of these.
  void label_nodes() {
    labelled_ = true;
    for (const auto& [id, agent] : agents_) relabel(id);
  }

  // Half of the jobs say how their workers lie among nodes, racks or disks, or want nodes of their own, and change
  // that. The workers of the part `grouped` of all jobs come and go in groups.
  void rule_jobs(double grouped = 0.2) {
    ruled_ = true;
    grouped_ = grouped;
  }

  // Tenants share the cluster; jobs are of its leaves. False: the engine refuses the tree.
  bool share_among(const core::TenantTree& tree) {
    if (!learn(core::TenantsConfigured{tree})) return false;
    tenants_ = leaves_of(tree);
    return true;
  }

  // A window of a node, or of those in a rack; or one is taken away.
  void plan_maintenance() {
    const auto& known = state().maintenance;
    if (!known.windows.empty() && rng_.chance(0.3)) {
      learn(core::MaintenanceRemoved{pick(known.windows)});
      return;
    }
    core::Selector selector{{"node", {agents_.at(pick(agents_)).name}}};
    if (labelled_ && rng_.chance(0.5)) selector = {{"rack", {rng_.chance(0.5) ? "r1" : "r2"}}};
    learn(core::MaintenanceAdded{random_window(state(), now_, std::move(selector), rng_)});
  }

 protected:
  void submit() {
    if (submitted() >= (strained_ ? 50U : 25U)) return;
    core::JobSpec spec = job_spec(random_sketch(plain_, rng_));
    if (!policies_.empty()) {
      if (rng_.chance(0.2)) spec.scaling.policy = policies_[rng_.below(policies_.size())];
      spec.preemptible = !rng_.chance(0.1);
    }
    if (!tenants_.empty()) spec.tenant = tenants_[rng_.below(tenants_.size())];
    if (typed_ && rng_.chance(strained_ ? 0.5 : 0.3)) spec.slot_types = {rng_.chance(0.5) ? "slow" : "fast"};
    spec.mixed_types = typed_ && rng_.chance(strained_ ? 0.5 : 0.2);
    if (labelled_ && rng_.chance(0.5)) spec.placement.selector = random_selector(rng_);
    if (shares_memory_ && rng_.chance(0.5)) spec.memory = rng_.between(1, 6) * 1'000;
    if (ruled_ && rng_.chance(0.5)) draw_rules(spec.placement, rng_);
    if (ruled_ && rng_.chance(grouped_)) draw_groups(spec, rng_);
    declare(spec, plain_, rng_);
    if (rng_.chance(0.15)) spec.resize = core::ResizeMode::kRestart;
    learn(core::JobSubmitted{engine_.next_job_id(), std::move(spec)});
  }

  void relabel_one() { relabel(pick(agents_)); }
  void relabel(NodeId id) { learn(core::NodeLabelled{id, random_labels(rng_)}); }

  [[nodiscard]] bool lacks_nodes(const core::Job& job) const {
    const bool asks = !job.spec.placement.selector.empty() || job.spec.memory || core::has_gang_rule(job.spec);
    return asks && core::empty_cluster_capacity(state(), job) < job.spec.elastic.min;
  }

  void user_acts() {
    if (submitted() == 0) return;
    const JobId job = pick_job();
    const auto& sizes = job_of(job).spec.elastic.sizes;
    switch (rng_.below(closes_nodes_ ? 11 : 9)) {
      case 10: plan_maintenance(); break;
      case 9:
        if (rng_.chance(0.3)) return exchange_machine(pick(agents_));
        if (!rng_.chance(0.2) || !learn(core::SlotsReleased{pick(agents_)}))
          learn(core::NodeFaultsCleared{pick(agents_)});
        break;
      case 8: drain(pick(agents_)); break;
      case 6: learn(core::JobCheckpointRequested{job}); break;
      case 7: change(job); break;
      case 0: learn(core::JobCancelRequested{job}); break;
      case 1: learn(core::JobSuspendRequested{job}); break;
      case 2: learn(core::JobResumeRequested{job}); break;
      case 3: learn(core::JobResizeRequested{job, sizes[rng_.below(sizes.size())]}); break;
      case 4: learn(core::JobResizeRequested{job, static_cast<int>(rng_.below(9))}); break;
      default: learn(core::NodeCordonChanged{pick(agents_), rng_.chance(0.4)}); break;
    }
  }

  void drain(NodeId node) {
    if (agents_.at(node).has_ended) return;
    if (rng_.chance(0.4)) {
      learn(core::NodeDrainCancelled{node});
    } else if (rng_.chance(0.3)) {
      learn(core::NodeReclaimNoticed{node, {}});
    } else if (rng_.chance(0.5)) {
      learn(core::NodeReclaimNoticed{node, Duration::millis(rng_.between(0, 30'000))});
    } else {
      learn(core::NodeDrainRequested{node, Duration::millis(rng_.between(0, 30'000)), "maintenance"});
    }
  }

  // New bounds, most of them impossible.
  void change(JobId job) {
    core::JobSpec spec = job_of(job).spec;
    const int group = spec.elastic.group;
    spec.elastic.min = group * static_cast<int>(rng_.between(1, 3));
    spec.elastic.max = group * static_cast<int>(rng_.between(1, 6));
    spec.elastic.preferred = spec.elastic.min;
    spec.elastic.sizes.clear();
    for (int size = spec.elastic.min; size <= spec.elastic.max; size += group) spec.elastic.sizes.push_back(size);
    spec.priority = static_cast<int>(rng_.between(-1, 1));
    if (ruled_ && rng_.chance(0.5)) draw_rules(spec.placement, rng_);
    learn(core::JobChanged{job, std::move(spec)});
  }

  bool labelled_ = false, ruled_ = false;
  double grouped_ = 0;
  std::vector<std::string> policies_;  // what jobs may ask for by name
  std::vector<std::string> tenants_;   // that jobs are drawn for; empty = of the default one
};

}  // namespace tidepool::test
