// What users ask for, and the durable answer. Plain values: they come from the API and from the simulated world alike.
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
// All of them or none. Their ids follow one another; the receipt names the first.
struct SubmitJobs {
  std::vector<core::JobSpec> specs;  // at least one
};
struct CancelJob {
  JobId job;
};
struct ResizeJob {
  JobId job;
  int size = 0;  // 0 clears the wish
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
// An RFC 7396 merge patch of the job's document, made to the job as it is when the command is carried out: of two
// changes at once neither undoes the other.
struct ChangeJob {
  JobId job;
  nlohmann::json patch;
};
struct CordonNode {
  NodeId node;
  bool cordoned = true;
};
// Sets labels of the node, and takes away those that are none.
struct LabelNode {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};
// The node is to be empty so long after now.
struct DrainNode {
  NodeId node;
  Duration within;
  std::string reason;
};
struct UndrainNode {
  NodeId node;
};
// Nodes are drained for a window, and again each time that it comes; the engine gives it its number.
struct AddMaintenance {
  core::MaintenanceWindow window;
};
struct RemoveMaintenance {
  core::WindowNumber window = 0;
};
// Its faults count no more.
struct ClearNodeFaults {
  NodeId node;
};
// It is lost and does not come back.
struct RemoveNode {
  NodeId node;
};
// All of its quarantined slots are free, by its operator's word.
struct ReleaseSlots {
  NodeId node;
};
// The tree of tenants from now on; an empty one ends sharing by tenants.
struct ConfigureTenants {
  core::TenantTree tree;
  std::optional<core::TenantTree> instead_of = std::nullopt;  // refused if another one is set by then; none: of any
};
// What lies below one tenant from now on; all else stays as it is then.
struct ConfigureTenantsBelow {
  std::string above;
  std::vector<core::Tenant> tenants;  // each after its parent, which is `above` or one of them
  // The tenant to which the caller is limited, which then sets no looser limits than its own. Empty: to none.
  std::string limited_to = "";
  std::optional<std::vector<core::Tenant>> instead_of =
      std::nullopt;  // refused if others are set by then; none: of any
};
// The prices from now on; an empty list leaves them to node tokens and pools.
struct ConfigurePrices {
  PriceList list;
  std::optional<PriceList> instead_of = std::nullopt;  // likewise
};
struct CreateToken {
  std::string id;  // made where the request comes in, because chance is an input
  std::string name;
  std::string role;    // "admin", "submitter", "viewer"
  std::string tenant;  // empty = all
  std::string secret_sha256;
  std::optional<Duration> lifetime;
};
struct RevokeToken {
  std::string token_id;
  std::int64_t unix_s = 0;  // by which other tokens have expired; taken where the request comes in, like chance
};
// Machines may join with it until it expires.
struct CreateNodeToken {
  std::string id;  // made where the request comes in, like the secret
  std::string secret_sha256;
  Duration lifetime;
  std::int64_t uses_max = 1;
  std::string name_prefix;
  NodeTerms terms;
};
struct RevokeNodeToken {
  std::string token_id;
};
// The node's certificate is good no more, its link is closed, and its workers are those of a lost node.
struct RevokeNode {
  std::string node;  // its name
  std::string reason;
};
// Keeps a version; one that is there already stays as it is.
struct StorePolicyVersion {
  PolicyVersion version;
};
// Notes what came of looking a stored version over.
struct NotePolicyChecks {
  std::string name;
  std::string version;
  PolicyChecks checks;
};
// From now on this stored version decides; none = the daemon's own policy.
struct ActivatePolicy {
  std::optional<core::PolicyFileRef> file;
};
// The version before it decides again. Refused unless `name` is the active one.
struct RollBackPolicy {
  std::string name;
  std::string why;
};
// This stored version is asked beside the active policy; none = no version is.
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
  std::string token_id;      // keys of different tokens never meet
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
  std::optional<JobVersion> only_of = std::nullopt;  // refused if the job is another by then; none: whatever it is
  bool only_repeats = false;                         // refused as outdated unless it repeats one that was carried out
};

// The durable answer. `replayed` = the key had been used with the same request before.
struct Receipt {
  std::optional<JobId> job;
  std::string token_id;  // of CreateToken and CreateNodeToken; of AddMaintenance the window's name
  EventSeq as_of_seq = 0;
  bool replayed = false;
};

}  // namespace tidepool::leader
