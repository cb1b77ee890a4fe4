// Our own declarations beside NCCL's, where its header is installed.
#include <catch2/catch.hpp>

#include "workers/runtime/nccl/nccl_abi.hpp"

#ifdef HAS_NCCL_HEADER
#include <nccl.h>

namespace tidepool::runtime {

TEST_CASE("our declarations of NCCL are those of its header") {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const nccl::Config ours;
  STATIC_REQUIRE(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
  CHECK(ours.magic == theirs.magic);
  CHECK(ours.max_ctas == theirs.maxCTAs);
  CHECK(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
  CHECK(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
  CHECK(offsetof(nccl::Config, split_share) == offsetof(ncclConfig_t, splitShare));
  CHECK(offsetof(nccl::Config, comm_name) == offsetof(ncclConfig_t, commName));
  CHECK(nccl::kInProgress == static_cast<int>(ncclInProgress));
  CHECK(nccl::kRemoteError == static_cast<int>(ncclRemoteError));
  CHECK(nccl::kFloat32 == static_cast<int>(ncclFloat32));
  CHECK(nccl::kInt64 == static_cast<int>(ncclInt64));
  CHECK(nccl::kInt8 == static_cast<int>(ncclInt8));
  CHECK(nccl::kSum == static_cast<int>(ncclSum));
#if NCCL_VERSION_CODE >= 22800
  CHECK(sizeof(nccl::Config) == sizeof(ncclConfig_t));
  CHECK(offsetof(nccl::Config, nvlink_centric_sched) == offsetof(ncclConfig_t, nvlinkCentricSched));
#endif
}

}  // namespace tidepool::runtime
#else
TEST_CASE("NCCL's header is not installed here, so our declarations are not compared with it") {
  WARN("skipped: no nccl.h");
}
#endif
