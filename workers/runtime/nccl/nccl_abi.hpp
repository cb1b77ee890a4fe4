// The part of NCCL's binary interface that is used, declared here so that building needs no NCCL and running needs no
// particular version. A test compares every line with the real nccl.h if that is installed.
//
// NCCL keeps these stable: structures grow at their end and state their size (ncclConfig_t of NCCL 2.28).
#pragma once

#include <climits>
#include <cstddef>

namespace tidepool::runtime::nccl {

using Handle = struct OpaqueComm*;

inline constexpr std::size_t kUniqueIdBytes = 128;
struct UniqueId {
  char bytes[kUniqueIdBytes];
};

enum Code : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,  // from a non-blocking communicator: poll again
};

enum DataType : int { kInt8 = 0, kInt64 = 4, kFloat32 = 7 };
enum Operation : int { kSum = 0 };

inline constexpr int kUndefined = INT_MIN;
inline constexpr unsigned kConfigMagic = 0xcafebeef;
inline constexpr int kConfigVersion = 22'800;

// ncclConfig_v22800. An older library reads only the beginning that it knows.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = kConfigMagic;
  unsigned version = kConfigVersion;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
  int traffic_class = kUndefined;
  const char* comm_name = nullptr;
  int collnet_enable = kUndefined;
  int cta_policy = kUndefined;
  int shrink_share = kUndefined;
  int nvls_ctas = kUndefined;
  int channels_per_net_peer = kUndefined;
  int nvlink_centric_sched = kUndefined;
};
static_assert(sizeof(Config) == 80 && offsetof(Config, net_name) == 32 && offsetof(Config, comm_name) == 48);

}  // namespace tidepool::runtime::nccl
