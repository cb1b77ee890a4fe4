// What the benchmarks with worker processes share: a crew under a leader, as many processes over Gloo alone as their
// baseline, and memory in which they leave figures. Whatever goes wrong is a std::runtime_error: a figure of a crew
// that lost a worker must not be printed.
#pragma once

#include <gloo/context.h>
#include <sys/mman.h>

#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/ids.hpp"
#include "tests/support/test_leader.hpp"

namespace tidepool::test {

// A value that this process shares with the children it forks from now on. `Value` holds no pointers.
template <class Value>
class Shared {
 public:
  Shared() {
    void* memory = ::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    value_ = new (memory) Value{};
  }
  ~Shared() { ::munmap(value_, sizeof(Value)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }

 private:
  Value* value_ = nullptr;
};

// Starts so many workers and waits until all are ready; they are not yet a generation.
[[nodiscard]] std::vector<WorkerId> boot_crew(TestLeader& leader, int workers);

// A job from its first generation, of `workers` that run `program`, to its end.
void run_crew(int workers, const TestLeader::Program& program);

// The same without libtidepool: each process gets a context that is connected to all others, and its rank with it.
// What it returns is its exit code.
using GlooProgram = std::function<int(const std::shared_ptr<gloo::Context>& context)>;
void run_gloo_crew(int workers, const GlooProgram& program);

// The allreduce that libtidepool uses, too.
void sum_over(const std::shared_ptr<gloo::Context>& context, std::span<float> values);

}  // namespace tidepool::test
