// A libnccl.so.2 between real processes on ordinary memory, with the faults that the real one has. Built in several
// versions (FAKE_NCCL_VERSION, FAKE_NCCL_NO_ABORT). By environment:
//
//   FAKE_NCCL_HANG_INIT=1      initialisation never ends
//   FAKE_NCCL_HANG_AFTER=n     the n+1st operation of a communicator never ends
//   FAKE_NCCL_ERROR_AFTER=n    after n operations the communicator reports ncclRemoteError, and nothing ends any more
//   FAKE_NCCL_DEATH=error      a peer's death is reported as ncclRemoteError; else, as within a node, it is silence
//   FAKE_NCCL_ABORT_UNTIL=file abort stops the kernels and returns once that file is there
//   FAKE_NCCL_LOG=file         "pid call" a line, for init, finalize, abort and destroy
//
// As in the real one, the first operation of a communicator is launched late, by a thread of the library, while the
// call has long returned ncclInProgress.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_nccl/fake_cuda.hpp"
#include "tests/support/fake_nccl/star.hpp"
#include "workers/runtime/nccl/nccl_abi.hpp"

#ifndef FAKE_NCCL_VERSION
#define FAKE_NCCL_VERSION 22809
#endif

namespace tidepool::fake {
namespace {

namespace nccl = runtime::nccl;
constexpr auto kLateLaunch = std::chrono::milliseconds(2);

std::optional<long> number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional(std::strtol(text, nullptr, 10));
}

void note(const char* call) {
  const char* file = std::getenv("FAKE_NCCL_LOG");
  if (file == nullptr) return;
  const std::string line = std::to_string(::getpid()) + " " + call + "\n";
  const int fd = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  static_cast<void>(::write(fd, line.data(), line.size()));
  ::close(fd);
}

enum class Kind { kSum, kBroadcast, kGather };

struct Comm;
struct Collective {
  Comm* comm;
  Kind kind;
  const void* from;
  void* to;
  std::size_t bytes;
  int root;
  void* stream;
};

struct Comm {
  int rank = 0;
  int size = 1;
  std::atomic<int> state{nccl::kInProgress};
  std::atomic<bool> stop{false};
  std::atomic<int> under_way{0};
  std::atomic<long> operations{0};
  bool launched_before = false;
  Star star{stop};
  std::thread background;  // init, late launches, finalize: one after the other

  void join() {
    if (background.joinable()) background.join();
  }
  // What a kernel does that is told to quit by the abort flag.
  void halt() {
    stop = true;
    join();
    while (under_way > 0) std::this_thread::yield();
  }
  void hang() const {
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

std::mutex listeners_mutex;
std::map<std::string, int> listeners;  // of ids made in this process
std::atomic<int> ids_made{0};

thread_local int group_depth = 0;
thread_local std::vector<Collective> group;

void add(float* sum, const std::byte* more, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    float value = 0;
    std::memcpy(&value, more + i * sizeof(float), sizeof value);
    sum[i] += value;
  }
}

Outcome carry_out(const Collective& call) {
  Comm& comm = *call.comm;
  std::vector<std::byte> all;
  const bool silent = call.kind == Kind::kBroadcast && comm.rank != call.root;
  // Every rank sends the same length, so that the root's part can be found.
  std::vector<std::byte> nothing(silent ? call.bytes : 0);
  const auto* mine = silent ? nothing.data() : static_cast<const std::byte*>(call.from);
  const Outcome outcome = comm.star.exchange(mine, call.bytes, all);
  if (outcome != Outcome::kDone) return outcome;
  if (call.kind == Kind::kGather) std::memcpy(call.to, all.data(), all.size());
  if (call.kind == Kind::kBroadcast) {
    std::memcpy(call.to, all.data() + static_cast<std::size_t>(call.root) * call.bytes, call.bytes);
  }
  if (call.kind == Kind::kSum) {
    std::memcpy(call.to, all.data(), call.bytes);
    for (int rank = 1; rank < comm.size; ++rank) {
      add(static_cast<float*>(call.to), all.data() + static_cast<std::size_t>(rank) * call.bytes, call.bytes);
    }
  }
  return Outcome::kDone;
}

// On the stream's thread.
void run(void* argument) {
  auto* call = static_cast<Collective*>(argument);
  Comm& comm = *call->comm;
  const long before = comm.operations++;
  if (const auto limit = number("FAKE_NCCL_ERROR_AFTER"); limit && before >= *limit) {
    comm.state = nccl::kRemoteError;
    comm.hang();
  } else if (const auto hang_limit = number("FAKE_NCCL_HANG_AFTER"); hang_limit && before >= *hang_limit) {
    comm.hang();
  } else if (!comm.stop && carry_out(*call) == Outcome::kPeerGone) {
    const char* death = std::getenv("FAKE_NCCL_DEATH");
    if (death != nullptr && std::string(death) == "error") comm.state = nccl::kRemoteError;
    comm.hang();
  }
  delete call;
  --comm.under_way;
}

void enqueue(const std::vector<Collective>& calls) {
  for (const Collective& call : calls) tidepool_fake_enqueue(call.stream, run, new Collective(call));
}

int launch(const std::vector<Collective>& calls) {
  if (calls.empty()) return nccl::kSuccess;
  Comm& comm = *calls.front().comm;
  comm.under_way += static_cast<int>(calls.size());
  if (comm.launched_before) {
    enqueue(calls);
    return nccl::kSuccess;
  }
  comm.launched_before = true;
  comm.state = nccl::kInProgress;
  comm.join();
  comm.background = std::thread([&comm, calls] {
    std::this_thread::sleep_for(kLateLaunch);
    enqueue(calls);
    int expected = nccl::kInProgress;
    comm.state.compare_exchange_strong(expected, nccl::kSuccess);
  });
  return nccl::kInProgress;
}

std::size_t size_of(int type) {
  if (type == nccl::kFloat32) return sizeof(float);
  return type == nccl::kInt64 ? 8 : 1;
}

int start(Collective call) {
  const std::size_t received =
      call.kind == Kind::kGather ? call.bytes * static_cast<std::size_t>(call.comm->size) : call.bytes;
  if (!tidepool_fake_is_device(call.from, call.bytes) || !tidepool_fake_is_device(call.to, received)) {
    return nccl::kInvalidArgument;
  }
  call.from = tidepool_fake_view(call.from);
  call.to = tidepool_fake_view(call.to);
  if (group_depth > 0) {
    group.push_back(call);
    return nccl::kSuccess;
  }
  return launch({call});
}

void initialise(Comm& comm, const std::string& name, int listener) {
  if (number("FAKE_NCCL_HANG_INIT")) comm.hang();
  Outcome outcome = comm.stop ? Outcome::kStopped : Outcome::kDone;
  if (outcome == Outcome::kDone) {
    outcome = comm.rank == 0 ? comm.star.gather_all(listener, comm.size) : comm.star.reach(name, comm.rank);
  }
  if (listener >= 0) ::close(listener);
  if (outcome == Outcome::kPeerGone) comm.hang();  // the real one waits on
  if (!comm.stop) comm.state = nccl::kSuccess;
}

}  // namespace
}  // namespace tidepool::fake

using namespace tidepool::fake;

extern "C" {

int ncclGetVersion(int* version) {
  *version = FAKE_NCCL_VERSION;
  return nccl::kSuccess;
}

int ncclGetUniqueId(nccl::UniqueId* id) {
  const std::string name = "tp-fake-nccl-" + std::to_string(::getpid()) + "-" + std::to_string(++ids_made);
  const int fd = Star::listen_at(name);
  if (fd < 0) return nccl::kSystemError;
  *id = {};
  std::memcpy(id->bytes, name.data(), name.size());
  const std::lock_guard lock(listeners_mutex);
  listeners[name] = fd;
  return nccl::kSuccess;
}

const char* ncclGetErrorString(int code) {
  switch (code) {
    case nccl::kSuccess: return "no error";
    case nccl::kRemoteError: return "remote process exited or there was a network error";
    case nccl::kInProgress: return "NCCL operation in progress";
    case nccl::kInvalidUsage: return "invalid usage";
    case nccl::kInvalidArgument: return "invalid argument";
    default: return "unhandled system error";
  }
}

const char* ncclGetLastError(nccl::Handle) {
  return "fake";
}

int ncclCommInitRankConfig(nccl::Handle* handle, int size, nccl::UniqueId id, int rank, nccl::Config* config) {
  note("init");
  const bool known = config->magic == nccl::kConfigMagic && config->size >= 32 && config->blocking == 0;
  if (!known || config->version > FAKE_NCCL_VERSION) return nccl::kInvalidArgument;
  auto* comm = new tidepool::fake::Comm;
  comm->rank = rank;
  comm->size = size;
  const std::string name = id.bytes;
  int listener = -1;
  if (rank == 0) {
    const std::lock_guard lock(listeners_mutex);
    const auto found = listeners.extract(name);
    listener = found.empty() ? -1 : found.mapped();
  }
  comm->background = std::thread([comm, name, listener] { initialise(*comm, name, listener); });
  *handle = reinterpret_cast<nccl::Handle>(comm);
  return nccl::kInProgress;
}

int ncclCommGetAsyncError(nccl::Handle handle, int* state) {
  *state = reinterpret_cast<tidepool::fake::Comm*>(handle)->state;
  return nccl::kSuccess;
}

int ncclCommFinalize(nccl::Handle handle) {
  note("finalize");
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  comm->join();
  comm->state = nccl::kInProgress;
  comm->background = std::thread([comm] {
    while (comm->under_way > 0) std::this_thread::yield();
    comm->state = nccl::kSuccess;
  });
  return nccl::kInProgress;
}

int ncclCommDestroy(nccl::Handle handle) {
  note("destroy");
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  comm->join();
  while (comm->under_way > 0) std::this_thread::yield();  // for ever after a fault, as the real one
  delete comm;
  return nccl::kSuccess;
}

#ifndef FAKE_NCCL_NO_ABORT
int ncclCommAbort(nccl::Handle handle) {
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  comm->halt();
  const char* file = std::getenv("FAKE_NCCL_ABORT_UNTIL");
  while (file != nullptr && ::access(file, F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  note("abort");
  delete comm;
  return nccl::kSuccess;
}
#endif

int ncclGroupStart() {
  ++group_depth;
  return nccl::kSuccess;
}

int ncclGroupEnd() {
  if (--group_depth > 0) return nccl::kSuccess;
  const std::vector<Collective> calls = std::exchange(group, {});
  return launch(calls);
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int, nccl::Handle handle, void* stream) {
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  return start({comm, Kind::kSum, from, to, count * size_of(type), 0, stream});
}

int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, nccl::Handle handle,
                  void* stream) {
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  return start({comm, Kind::kBroadcast, from, to, count * size_of(type), root, stream});
}

int ncclAllGather(const void* from, void* to, std::size_t count, int type, nccl::Handle handle, void* stream) {
  auto* comm = reinterpret_cast<tidepool::fake::Comm*>(handle);
  return start({comm, Kind::kGather, from, to, count * size_of(type), 0, stream});
}
}
