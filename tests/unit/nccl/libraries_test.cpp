// Loading: what a machine without the libraries, or with the wrong ones, is told.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/setting.hpp"
#include "workers/runtime/comm_opening.hpp"

namespace tidepool::runtime {
namespace {

using test::Setting;
const std::string kFolder = FAKE_LIBRARIES;

std::string nccl_error(const std::string& file) {
  const Setting library("TIDEPOOL_NCCL_LIBRARY", kFolder + "/" + file);
  const auto nccl = NcclLibrary::load();
  return nccl.ok() ? "" : nccl.error().message;
}

}  // namespace

TEST_CASE("NCCL is found where it is said to be, and tells its version") {
  const Setting library("TIDEPOOL_NCCL_LIBRARY", kFolder + "/libfake_nccl_2_28.so");
  const auto nccl = NcclLibrary::load();
  REQUIRE(nccl.ok());
  CHECK((*nccl)->version_text() == "2.28.9");
  CHECK_THAT((*nccl)->file, Catch::Contains("libfake_nccl_2_28.so"));
}

TEST_CASE("NCCL 2.18 is enough") {
  const Setting library("TIDEPOOL_NCCL_LIBRARY", kFolder + "/libfake_nccl_2_18.so");
  const auto nccl = NcclLibrary::load();
  REQUIRE(nccl.ok());
  CHECK((*nccl)->version_text() == "2.18.5");
}

TEST_CASE("an NCCL that is too old, lacks a symbol or is not there is refused with file, version and remedy") {
  CHECK_THAT(nccl_error("libfake_nccl_2_16.so"),
             Catch::Contains("libfake_nccl_2_16.so (NCCL 2.16.5) is too old") && Catch::Contains("2.18 or later"));
  CHECK_THAT(nccl_error("libfake_nccl_broken.so"), Catch::Contains("(NCCL 2.23.4) lacks ncclCommAbort;"));
  CHECK_THAT(nccl_error("libfake_cudart.so"), Catch::Contains("(no version) lacks ncclGetVersion, ncclGetUniqueId"));
  CHECK_THAT(nccl_error("nowhere.so"), Catch::Contains("nowhere.so") && Catch::Contains("TIDEPOOL_NCCL_LIBRARY"));
}

TEST_CASE("a node whose CUDA sees no GPU is told so") {
  const Setting library("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so");
  const Setting none("FAKE_CUDA_DEVICES", "0");
  const auto cuda = CudaLibrary::load();
  REQUIRE(!cuda.ok());
  CHECK_THAT(cuda.error().message, Catch::Contains("looking for GPUs") && Catch::Contains("no CUDA-capable device"));
}

TEST_CASE("what is no CUDA runtime is named with what it lacks") {
  const Setting library("TIDEPOOL_CUDART_LIBRARY", "libm.so.6");
  const auto cuda = CudaLibrary::load();
  REQUIRE(!cuda.ok());
  CHECK_THAT(cuda.error().message, Catch::Contains("lacks") && Catch::Contains("no CUDA runtime of version 11"));
}

TEST_CASE("the choice of a backend: auto, gloo or nccl, and nothing else") {
  CHECK(parse_backend("").value() == Backend::kAuto);
  CHECK(parse_backend("nccl").value() == Backend::kNccl);
  const auto wrong = parse_backend("NCLL");
  REQUIRE(!wrong.ok());
  CHECK_THAT(wrong.error().message, Catch::Contains("TIDEPOOL_BACKEND is \"NCLL\"; it can be auto, gloo or nccl"));
}

TEST_CASE("auto looks for NCCL only when the worker was given GPUs, and goes on without it") {
  const Setting library("TIDEPOOL_NCCL_LIBRARY", kFolder + "/nowhere.so");
  const Setting cuda("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so");
  {
    const Setting gpus("CUDA_VISIBLE_DEVICES", "");
    const auto found = find_transports(Backend::kAuto);
    REQUIRE(found.ok());
    CHECK(found->nccl == nullptr);
    CHECK(found->why_no_nccl.empty());
  }
  const Setting gpus("CUDA_VISIBLE_DEVICES", "GPU-0");
  const auto found = find_transports(Backend::kAuto);
  REQUIRE(found.ok());
  CHECK(found->nccl == nullptr);
  CHECK(found->gloo);
  CHECK_THAT(found->why_no_nccl, Catch::Contains("nowhere.so"));
  CHECK(!find_transports(Backend::kNccl).ok());
  CHECK(find_transports(Backend::kGloo).value().nccl == nullptr);
}

}  // namespace tidepool::runtime
