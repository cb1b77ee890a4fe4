#include "workers/agent/system/cpu_pool.hpp"

#include <catch2/catch.hpp>

namespace tidepool::agent {
namespace {

using Cpus = std::vector<int>;

TEST_CASE("a CPU is held by one worker at a time") {
  CpuPool pool({0, 1, 4, 5});
  CHECK(pool.take(WorkerId(1), 2) == Cpus{0, 1});
  CHECK(pool.take(WorkerId(2), 1) == Cpus{4});
  CHECK(pool.free() == Cpus{5});
  pool.release(WorkerId(1));
  CHECK(pool.take(WorkerId(3), 3) == Cpus{0, 1, 5});
  CHECK(pool.free().empty());
}

TEST_CASE("a worker gets all the CPUs that it asks for or none") {
  CpuPool pool({0, 1});
  CHECK(pool.take(WorkerId(1), 3).empty());
  CHECK(pool.free() == Cpus{0, 1});
  CHECK(pool.take(WorkerId(1), 0).empty());
  CHECK(CpuPool({}).take(WorkerId(1), 1).empty());
}

TEST_CASE("the CPUs of an adopted worker stay its own until it ends") {
  CpuPool pool({0, 1, 2});
  pool.adopt(WorkerId(7), {1});
  pool.adopt(WorkerId(8), {});
  CHECK(pool.take(WorkerId(9), 2) == Cpus{0, 2});
  pool.release(WorkerId(7));
  CHECK(pool.free() == Cpus{1});
}

TEST_CASE("a CPU that the agent may not use any more is not given out when its worker ends") {
  CpuPool pool({0});
  pool.adopt(WorkerId(7), {3});
  pool.release(WorkerId(7));
  CHECK(pool.free() == Cpus{0});
}

}  // namespace
}  // namespace tidepool::agent
