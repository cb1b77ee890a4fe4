// What daemon and policy host share: the layout of the memory that carries a round's facts one way and the answers the
// other way, and the few words on the channel between them.
// Plain old data only. The host maps the facts read-only and cannot change the size of either region; the daemon copies
// answers before it looks at them and trusts no length, index or text in them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace tidepool::policies::host {

// The descriptors a host starts with; it closes all others.
inline constexpr int kChannelFd = 3;
inline constexpr int kFactsFd = 4;
inline constexpr int kAnswersFd = 5;
inline constexpr int kSourceFd = 6;

inline constexpr std::uint64_t kFactsBytes = 64U << 20U;
inline constexpr std::uint64_t kAnswersBytes = 32U << 20U;
inline constexpr std::uint64_t kSourceBytesMax = 4U << 20U;  // of a native library; Lua text is held to less

// Processor time that a process may use in its life, for the case that no daemon watches its deadlines. The daemon
// replaces it between two rounds long before.
inline constexpr std::uint64_t kProcessorSeconds = 3'600;

enum Hook : std::uint32_t {
  kAdmit = 1U << 0U,
  kOrder = 1U << 1U,
  kSizes = 1U << 2U,
  kMarks = 1U << 3U,
  kShare = 1U << 4U,
  kProvision = 1U << 5U,
};

inline constexpr std::size_t kCodeBytes = 32;
inline constexpr std::size_t kNameBytes = 32;
inline constexpr std::size_t kTextBytes = 64;
inline constexpr std::size_t kMessageBytes = 480;
inline constexpr std::size_t kNumbersMax = 8;
inline constexpr std::size_t kParamsMax = 64;

enum class ParamKind : std::uint32_t { kNumber, kBoolean, kText };

struct ParamRecord {
  char name[kNameBytes];
  char text[kTextBytes];
  double number;  // 0 or 1 of a boolean
  ParamKind kind;
  std::uint32_t unused;
};

// Offsets are from the beginning of the region, in bytes, multiples of 8.
struct FactsHeader {
  std::uint32_t abi;
  std::uint32_t job_columns;
  double now;
  std::uint64_t seed;
  std::uint32_t jobs;
  std::uint32_t nodes;
  std::uint32_t slots;
  std::uint32_t slots_per_node;
  std::uint32_t options;
  std::uint32_t params;
  std::uint32_t tenants;
  std::uint32_t types;
  std::uint32_t asked;
  std::uint32_t held;
  std::uint64_t job_matrix;    // double[job_columns][jobs]
  std::uint64_t node_matrix;   // double[TIDEPOOL_NODE_COLUMNS][nodes]
  std::uint64_t first_option;  // uint32[jobs + 1]
  std::uint64_t option_size;   // double[options], and so the next two
  std::uint64_t option_goodput;
  std::uint64_t option_step_seconds;
  std::uint64_t param_records;  // ParamRecord[params]
  std::uint64_t tenant_names;   // tidepool_name[tenants]
  std::uint64_t type_names;     // tidepool_name[types]
  std::uint64_t first_asked;    // uint32[jobs + 1]
  std::uint64_t asked_types;    // uint32[asked]
  std::uint64_t first_held;     // uint32[jobs + 1]
  std::uint64_t held_types;     // uint32[held], and so the next one
  std::uint64_t held_slots;
  std::uint64_t tenant_matrix;  // double[TIDEPOOL_TENANT_COLUMNS][tenant_rows]
  std::uint64_t pool_names;     // tidepool_name[pool_rows]
  std::uint64_t pool_matrix;    // double[TIDEPOOL_POOL_COLUMNS][pool_rows]
  std::uint64_t first_cost;     // uint32[jobs + 1]
  std::uint64_t cost_matrix;    // double[TIDEPOOL_COST_COLUMNS][cost_rows]
  std::uint32_t tenant_rows;
  std::uint32_t pool_rows;
  std::uint32_t cost_rows;
  std::uint32_t unused;
};

struct NumberRecord {
  char name[kNameBytes];
  double value;
};

struct WhyRecord {
  char code[kCodeBytes];  // empty = nothing was said about this job or pool
  std::uint32_t count;
  std::uint32_t unused;
  NumberRecord numbers[kNumbersMax];
};

// The value of an answer that has not been given yet.
inline constexpr double kUnset = -1.7976931348623157e308;

struct AnswersHeader {
  std::uint32_t hooks;    // those that have answered
  std::uint32_t why_set;  // whether any WhyRecord is
  std::uint64_t instructions;
  std::uint64_t memory_peak;
  // Of a failure: what and where. `code` is one of PolicyFault's names.
  char code[kCodeBytes];
  char hook[kCodeBytes];
  char message[kMessageBytes];
  std::int64_t row;  // -1 = no job in particular
};

// After the header: double[jobs] for admit, order, sizes and marks, double[tenants] for share, double[pools] for
// provision, then WhyRecord[jobs] and WhyRecord[pools].
struct AnswersLayout {
  constexpr AnswersLayout(std::uint32_t jobs, std::uint32_t tenants, std::uint32_t pools)
      : admit(sizeof(AnswersHeader)),
        order(admit + 8ULL * jobs),
        sizes(order + 8ULL * jobs),
        marks(sizes + 8ULL * jobs),
        share(marks + 8ULL * jobs),
        provision(share + 8ULL * tenants),
        why(provision + 8ULL * pools),
        why_pool(why + sizeof(WhyRecord) * std::uint64_t{jobs}),
        end(why_pool + sizeof(WhyRecord) * std::uint64_t{pools}) {}
  std::uint64_t admit, order, sizes, marks, share, provision, why, why_pool, end;
};
static_assert(sizeof(AnswersHeader) % 8 == 0 && sizeof(FactsHeader) % 8 == 0 && sizeof(WhyRecord) % 8 == 0);

// One datagram each way; the daemon speaks first.
enum class RequestKind : std::uint32_t { kLoad, kRound };
enum class EngineKind : std::uint32_t { kLua, kNative };

struct Request {
  RequestKind kind;
  EngineKind engine;           // kLoad
  std::uint64_t bytes;         // kLoad: of the source
  std::uint64_t instructions;  // budget of a load and of each round
  std::uint64_t memory;        // budget in bytes
};

enum class ReplyStatus : std::uint32_t {
  kDone,       // kLoad: `hooks` are there; kRound: the answers are in place
  kFailed,     // AnswersHeader tells why
  kForbidden,  // `hooks` is the number of the system call; the host ends itself
};

struct Reply {
  ReplyStatus status;
  std::uint32_t hooks;
};

}  // namespace tidepool::policies::host
