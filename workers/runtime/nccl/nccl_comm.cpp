#include "workers/runtime/nccl/nccl_comm.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "workers/runtime/nccl/device_staging.hpp"

namespace tidepool::runtime {
namespace {

constexpr Millis kNcclSettleTimeout{5'000};
constexpr int kPollsBeforeSleep = 200;  // about as long as a small sum within a node takes
constexpr auto kPollPause = std::chrono::microseconds(100);

class GpuComm final : public NcclComm {
 public:
  GpuComm(NcclOptions options, std::unique_ptr<DeviceStaging> staging)
      : options_(std::move(options)), nccl_(*options_.nccl), cuda_(*options_.cuda), staging_(std::move(staging)) {}
  ~GpuComm() override;

  [[nodiscard]] Status make_id();

  [[nodiscard]] int rank() const override { return options_.rank; }
  [[nodiscard]] int size() const override { return options_.size; }
  [[nodiscard]] std::string address() const override {
    return options_.rank == 0 ? std::string(id_.bytes, sizeof id_.bytes) : std::string();
  }
  [[nodiscard]] Status connect(const std::string& id) override;
  [[nodiscard]] Status allreduce(std::span<float> values) override;
  [[nodiscard]] Status allreduce_parts(std::span<const FloatBuffer> parts) override;
  [[nodiscard]] Status broadcast(std::span<std::byte> bytes, int root) override;
  [[nodiscard]] bool takes_device_memory() const override { return true; }
  [[nodiscard]] Status broadcast_device(std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::vector<std::int64_t>> allgather(std::span<const std::int64_t> mine) override;
  void settle() override;
  void abort() noexcept override;

 private:
  [[nodiscard]] Status begin(const char* what);
  template <class Done>
  [[nodiscard]] Status await(const char* what, TimePoint deadline, Done done);
  [[nodiscard]] Status issued(int code, const char* what, TimePoint deadline);
  [[nodiscard]] Status finished(std::size_t slot, const char* what, TimePoint deadline);
  template <class Launch>
  [[nodiscard]] Status through_staging(std::span<std::byte> bytes, const char* what, bool sends, Launch launch);
  [[nodiscard]] Status wait_on_stream(void* event);
  template <class Launch>
  [[nodiscard]] Status in_place(std::span<std::byte> bytes, const char* what, Launch launch);
  [[nodiscard]] Result<std::vector<std::int64_t>> gather(std::span<const std::int64_t> mine, Millis timeout);
  [[nodiscard]] Error leave(const char* what, const std::string& why);
  [[nodiscard]] Error fail(const char* what, const std::string& why);
  [[nodiscard]] std::string stop();
  [[nodiscard]] bool wait_for_stream();
  void pause(int polls);

  [[nodiscard]] TimePoint collective_deadline() const { return Clock::now() + options_.collective_timeout; }

  NcclOptions options_;
  const NcclLibrary& nccl_;
  const CudaLibrary& cuda_;
  std::unique_ptr<DeviceStaging> staging_;
  nccl::UniqueId id_{};
  nccl::Handle handle_ = nullptr;
  bool failed_ = false;
  bool settled_ = false;
  std::thread aborting_;

  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::condition_variable abort_called_;
};

GpuComm::~GpuComm() {
  if (aborting_.joinable()) aborting_.join();
  cuda_.set_device(0);
  if (handle_ != nullptr && settled_) nccl_.destroy(handle_);
  if (handle_ != nullptr && !settled_) nccl_.abort(handle_);
}

Status GpuComm::make_id() {
  const int code = nccl_.get_unique_id(&id_);
  if (code == nccl::kSuccess) return ok_status();
  return fail("making an id for the communicator", nccl_.error_text(code));
}

Status GpuComm::connect(const std::string& id) {
  const char* what = "connecting to the other workers' GPUs";
  if (id.size() != sizeof id_.bytes) return invalid_argument("rank 0 sent an NCCL id of the wrong length");
  TP_TRY(begin(what));
  std::memcpy(id_.bytes, id.data(), sizeof id_.bytes);
  const TimePoint deadline = Clock::now() + options_.connect_timeout;
  nccl::Config config;
  config.blocking = 0;
  config.version = static_cast<unsigned>(std::min(nccl_.version, nccl::kConfigVersion));
  const int code = nccl_.init_rank(&handle_, options_.size, id_, options_.rank, &config);
  return issued(code, what, deadline);
}

Status GpuComm::allreduce(std::span<float> values) {
  return through_staging(std::as_writable_bytes(values), "allreduce", true, [this](std::byte* at, std::size_t bytes) {
    return nccl_.allreduce(at, at, bytes / sizeof(float), nccl::kFloat32, nccl::kSum, handle_, staging_->stream());
  });
}

// The parts are summed in the same order and pieces wherever they are: ranks with a buffer on the GPU and ranks with
// one in ordinary memory run the same collectives.
Status GpuComm::allreduce_parts(std::span<const FloatBuffer> parts) {
  for (const FloatBuffer& part : parts) {
    if (part.memory == Memory::kHost) {
      TP_TRY(allreduce(part.values));
      continue;
    }
    TP_TRY(wait_on_stream(part.ready));
    TP_TRY(in_place(std::as_writable_bytes(part.values), "allreduce", [this](std::byte* at, std::size_t bytes) {
      return nccl_.allreduce(at, at, bytes / sizeof(float), nccl::kFloat32, nccl::kSum, handle_, staging_->stream());
    }));
  }
  return ok_status();
}

Status GpuComm::broadcast(std::span<std::byte> bytes, int root) {
  return through_staging(bytes, "broadcast", root == options_.rank, [this, root](std::byte* at, std::size_t length) {
    return nccl_.broadcast(at, at, length, nccl::kInt8, root, handle_, staging_->stream());
  });
}

Status GpuComm::broadcast_device(std::span<const std::byte> bytes) {
  // NCCL needs both addresses; at the root it only reads.
  const std::span<std::byte> memory(const_cast<std::byte*>(bytes.data()), bytes.size());
  return in_place(memory, "broadcast", [this](std::byte* at, std::size_t length) {
    return nccl_.broadcast(at, at, length, nccl::kInt8, options_.rank, handle_, staging_->stream());
  });
}

// Work enqueued later begins after the program's event.
Status GpuComm::wait_on_stream(void* event) {
  if (event == nullptr) return ok_status();
  TP_TRY(begin("allreduce"));
  return cuda_.check(cuda_.stream_wait_event(staging_->stream(), static_cast<cuda::Event>(event), 0),
                     "waiting for the program's stream");
}

Result<std::vector<std::int64_t>> GpuComm::allgather(std::span<const std::int64_t> mine) {
  return gather(mine, options_.collective_timeout);
}

Result<std::vector<std::int64_t>> GpuComm::gather(std::span<const std::int64_t> mine, Millis timeout) {
  const char* what = "allgather";
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(options_.size));
  const std::size_t bytes = all.size() * sizeof(std::int64_t);
  if (bytes > staging_->slot_bytes()) return invalid_argument("too many numbers for one allgather");
  TP_TRY(begin(what));
  const TimePoint deadline = Clock::now() + timeout;
  TP_TRY(staging_->upload(1, std::as_bytes(mine)));
  const int code =
      nccl_.allgather(staging_->device(1), staging_->device(0), mine.size(), nccl::kInt64, handle_, staging_->stream());
  TP_TRY(issued(code, what, deadline));
  TP_TRY(staging_->fetch(0, bytes));
  TP_TRY(staging_->mark(0));
  TP_TRY(finished(0, what, deadline));
  std::memcpy(all.data(), staging_->fetched(0).data(), bytes);
  return all;
}

// A rank that has passed the barrier may still be sending; finalize returns when none of its operations is in progress.
void GpuComm::settle() {
  const std::int64_t nothing = 0;
  if (settled_ || !gather({&nothing, 1}, kNcclSettleTimeout).ok()) return;
  const int code = nccl_.finalize(handle_);
  settled_ = issued(code, "closing", Clock::now() + kNcclSettleTimeout).ok();
}

void GpuComm::abort() noexcept {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  abort_called_.notify_all();
}

// --- waiting --------------------------------------------------------------------------------------

// The current GPU is a per-thread setting, and callers may change threads between operations.
Status GpuComm::begin(const char* what) {
  if (failed_) return Error{ErrorCode::kUnavailable, std::string(what) + ": this communicator has failed before"};
  if (aborted_) return leave(what, "a member is gone");
  return cuda_.check(cuda_.set_device(0), "choosing the GPU");
}

// Waits until NCCL has nothing in progress and `done`, which returns a CUDA code, reports success.
template <class Done>
Status GpuComm::await(const char* what, TimePoint deadline, Done done) {
  for (int polls = 0;; ++polls) {
    if (aborted_) return leave(what, "a member is gone");
    int state = nccl::kSuccess;
    const int asked = nccl_.async_error(handle_, &state);
    if (asked != nccl::kSuccess) state = asked;
    if (state != nccl::kSuccess && state != nccl::kInProgress) {
      return fail(what, nccl_.error_text(state) + std::string(" (") + nccl_.last_error(handle_) + ")");
    }
    if (state == nccl::kSuccess) {
      const int code = done();
      if (code == cuda::kSuccess) return ok_status();
      if (code != cuda::kNotReady) return fail(what, std::string("CUDA says ") + cuda_.error_text(code));
    }
    if (Clock::now() >= deadline) return leave(what, "no end in the time allowed; a worker or its GPU hangs");
    pause(polls);
  }
}

void GpuComm::pause(int polls) {
  if (polls < kPollsBeforeSleep) {
    std::this_thread::yield();
    return;
  }
  std::unique_lock lock(mutex_);
  abort_called_.wait_for(lock, kPollPause, [this] { return aborted_.load(); });
}

// Waits until a call of NCCL has put its work on the stream; only then may more be enqueued after it.
Status GpuComm::issued(int code, const char* what, TimePoint deadline) {
  if (code == nccl::kInProgress) return await(what, deadline, [] { return cuda::kSuccess; });
  if (code == nccl::kSuccess) return ok_status();
  return fail(what, std::string(nccl_.error_text(code)) + " (" + nccl_.last_error(handle_) + ")");
}

Status GpuComm::finished(std::size_t slot, const char* what, TimePoint deadline) {
  return await(what, deadline, [this, slot] { return staging_->done(slot); });
}

// In pieces of a slot's length, two in progress simultaneously. A rank that does not send skips the copy to the GPU.
template <class Launch>
Status GpuComm::through_staging(std::span<std::byte> bytes, const char* what, bool sends, Launch launch) {
  TP_TRY(begin(what));
  const TimePoint deadline = collective_deadline();
  std::array<std::span<std::byte>, DeviceStaging::kSlots> under_way{};
  const auto take = [&](std::size_t slot) -> Status {
    if (under_way[slot].empty()) return ok_status();
    TP_TRY(finished(slot, what, deadline));
    std::memcpy(under_way[slot].data(), staging_->fetched(slot).data(), under_way[slot].size());
    under_way[slot] = {};
    return ok_status();
  };
  std::size_t slot = 0;
  for (; !bytes.empty(); slot = (slot + 1) % DeviceStaging::kSlots) {
    TP_TRY(take(slot));
    under_way[slot] = bytes.first(std::min(bytes.size(), staging_->slot_bytes()));
    bytes = bytes.subspan(under_way[slot].size());
    if (sends) TP_TRY(staging_->upload(slot, under_way[slot]));
    TP_TRY(issued(launch(staging_->device(slot), under_way[slot].size()), what, deadline));
    TP_TRY(staging_->fetch(slot, under_way[slot].size()));
    TP_TRY(staging_->mark(slot));
  }
  for (std::size_t rest = 0; rest < DeviceStaging::kSlots; ++rest) {
    TP_TRY(take((slot + rest) % DeviceStaging::kSlots));
  }
  return ok_status();
}

// For GPU memory, in place, in the pieces that other ranks may send through their staging.
template <class Launch>
Status GpuComm::in_place(std::span<std::byte> bytes, const char* what, Launch launch) {
  TP_TRY(begin(what));
  const TimePoint deadline = collective_deadline();
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), staging_->slot_bytes()));
    TP_TRY(issued(launch(piece.data(), piece.size()), what, deadline));
    bytes = bytes.subspan(piece.size());
  }
  TP_TRY(staging_->mark(0));
  return finished(0, what, deadline);
}

// --- failing --------------------------------------------------------------------------------------

// For another rank's fault: the daemon will form a generation without that rank.
Error GpuComm::leave(const char* what, const std::string& why) {
  failed_ = true;
  return Error{ErrorCode::kUnavailable, std::string(what) + ": " + why + stop()};
}

// For a fault that may be this worker's own, which the other ranks may not notice.
Error GpuComm::fail(const char* what, const std::string& why) {
  failed_ = true;
  return io_error(std::string(what) + ": " + why + stop());
}

// NCCL tells the GPU to stop at once and then takes half a second to free its resources: a thread and the destructor
// wait for that. Not ncclCommRevoke: after a peer's death its kernels ran on for seconds (NCCL 2.28.9 over sockets).
std::string GpuComm::stop() {
  if (handle_ == nullptr) return {};
  const auto end = [this, handle = std::exchange(handle_, nullptr)] {
    cuda_.set_device(0);
    nccl_.abort(handle);
  };
  try {
    aborting_ = std::thread(end);
  } catch (const std::system_error&) {
    end();  // no further thread could be started
  }
  return wait_for_stream() ? "" : "; the GPU still works on its sums";
}

// Waits until everything enqueued has ended; a failed device has nothing in progress.
bool GpuComm::wait_for_stream() {
  if (!staging_->mark(0).ok()) return true;
  const TimePoint deadline = Clock::now() + kNcclSettleTimeout;
  for (int polls = 0; staging_->done(0) == cuda::kNotReady; ++polls) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(polls < kPollsBeforeSleep ? std::chrono::microseconds(0) : kPollPause);
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<NcclComm>> NcclComm::open(const NcclOptions& options) {
  auto staging = DeviceStaging::create(options.cuda, options.staging_bytes);
  if (!staging.ok()) return staging.error();
  auto comm = std::make_shared<GpuComm>(options, *std::move(staging));
  if (options.rank == 0) TP_TRY(comm->make_id());
  return std::shared_ptr<NcclComm>(std::move(comm));
}

}  // namespace tidepool::runtime
