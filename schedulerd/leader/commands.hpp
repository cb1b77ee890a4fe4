// Requests of users, and the durable answer. Plain values: they come from the API and from the simulated world alike.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"
#include "schedulerd/leader/records.hpp"

namespace tidepool::leader {

struct SubmitJob {
  core::JobSpec spec;
};
// Submits all of them or none. Their ids are consecutive; the receipt names the first.
struct SubmitJobs {
  std::vector<core::JobSpec> specs;  // at least one
};
struct CancelJob {
  JobId job;
};
struct ResizeJob {
  JobId job;
  int size = 0;  // 0 clears the pinned size
};
struct SuspendJob {
  JobId job;
};
struct ResumeJob {
  JobId job;
};
struct CheckpointJob {
  JobId job;
};
// An RFC 7396 merge patch of the job's document, applied to the job as it is when the command is carried out, so that
// neither of two concurrent changes undoes the other.
struct ChangeJob {
  JobId job;
  nlohmann::json patch;
};
struct CordonNode {
  NodeId node;
  bool cordoned = true;
};
// Sets labels of the node, and removes those with the value none.
struct LabelNode {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};
// Drains the node; it must be empty after this time.
struct DrainNode {
  NodeId node;
  Duration within;
  std::string reason;
};
struct UndrainNode {
  NodeId node;
};
// Drains nodes for a window, and again at each repetition; the engine assigns its number.
struct AddMaintenance {
  core::MaintenanceWindow window;
};
struct RemoveMaintenance {
  core::WindowNumber window = 0;
};
// Clears the node's faults.
struct ClearNodeFaults {
  NodeId node;
};
// Removes a lost node that will not come back.
struct RemoveNode {
  NodeId node;
};
// Frees all quarantined slots of the node, on the operator's word.
struct ReleaseSlots {
  NodeId node;
};
// Sets the tree of tenants; an empty one ends sharing by tenants.
struct ConfigureTenants {
  core::TenantTree tree;
  std::optional<core::TenantTree> instead_of = std::nullopt;  // refused if another tree is set by then; none: no check
};
// Sets the tree below one tenant; the rest stays as it is when the command is carried out.
struct ConfigureTenantsBelow {
  std::string above;
  std::vector<core::Tenant> tenants;  // each after its parent, which is `above` or one of them
  // The tenant to which the caller is limited; limits below must not be looser than its own. Empty: not limited.
  std::string limited_to = "";
  std::optional<std::vector<core::Tenant>> instead_of =
      std::nullopt;  // refused if others are set by then; none: no check
};
// Sets the prices; an empty list leaves them to node tokens and pools.
struct ConfigurePrices {
  PriceList list;
  std::optional<PriceList> instead_of = std::nullopt;  // likewise
};
struct CreateToken {
  std::string id;  // generated where the request arrives, because randomness is an input
  std::string name;
  std::string role;    // "admin", "submitter", "viewer"
  std::string tenant;  // empty = all
  std::string secret_sha256;
  std::optional<Duration> lifetime;
};
struct RevokeToken {
  std::string token_id;
  std::int64_t unix_s = 0;  // decides whether other tokens have expired; read where the request arrives
};
// Creates a token with which machines may join until it expires.
struct CreateNodeToken {
  std::string id;  // generated where the request arrives, like the secret
  std::string secret_sha256;
  Duration lifetime;
  std::int64_t uses_max = 1;
  std::string name_prefix;
  NodeTerms terms;
};
struct RevokeNodeToken {
  std::string token_id;
};
// Revokes the node's certificate, closes its link, and treats its workers as those of a lost node.
struct RevokeNode {
  std::string node;  // its name
  std::string reason;
};
// Stores a version; an existing one stays as it is.
struct StorePolicyVersion {
  PolicyVersion version;
};
// Records the result of checking a stored version.
struct NotePolicyChecks {
  std::string name;
  std::string version;
  PolicyChecks checks;
};
// Activates this stored version; none = the daemon's own policy.
struct ActivatePolicy {
  std::optional<core::PolicyFileRef> file;
};
// Activates the previous version again. Refused unless `name` is the active one.
struct RollBackPolicy {
  std::string name;
  std::string why;
};
// Asks this stored version in addition to the active policy; none = stop that.
struct ShadowPolicy {
  std::optional<core::PolicyFileRef> file;
};
using CommandBody =
    std::variant<SubmitJob, SubmitJobs, CancelJob, ResizeJob, SuspendJob, ResumeJob, CheckpointJob, ChangeJob,
                 CordonNode, LabelNode, DrainNode, UndrainNode, ClearNodeFaults, RemoveNode, ReleaseSlots,
                 AddMaintenance, RemoveMaintenance, ConfigureTenants, ConfigureTenantsBelow, ConfigurePrices,
                 CreateToken, RevokeToken, CreateNodeToken, RevokeNodeToken, RevokeNode, StorePolicyVersion,
                 NotePolicyChecks, ActivatePolicy, RollBackPolicy, ShadowPolicy>;

struct Idempotency {
  std::string key;           // as the client sent it
  std::string token_id;      // keys of different tokens are independent
  std::string request_hash;  // of method, path and body
};

// A job as its reader saw it (job_change.hpp: job_etag).
struct JobVersion {
  JobId job;
  std::string etag;
};

struct Command {
  CommandBody body;
  std::string actor;  // token id, for the audit
  std::optional<Idempotency> idempotency;
  std::optional<JobVersion> only_of = std::nullopt;  // refused if the job has changed since; none: no check
  bool only_repeats = false;                         // refused as outdated unless it repeats a completed request
};

// The durable answer. `replayed` = the key was used with the same request before.
struct Receipt {
  std::optional<JobId> job;
  std::string token_id;  // of CreateToken and CreateNodeToken; for AddMaintenance the window's name
  EventSeq as_of_seq = 0;
  bool replayed = false;
};

}  // namespace tidepool::leader
