#include "workers/runtime/nccl/gpu.hpp"

#include <algorithm>

namespace tidepool::runtime {
namespace {

constexpr std::size_t kPieceBytes = 4U << 20U;

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::open() {
  auto cuda = CudaLibrary::load();
  if (!cuda.ok()) return cuda.error();
  std::shared_ptr<Gpu> gpu(new Gpu(*std::move(cuda)));
  TP_TRY(gpu->allocate());
  return gpu;
}

Status Gpu::allocate() {
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  TP_TRY(cuda_->check(cuda_->stream_create(&copies_, cuda::kStreamNonBlocking), "making a CUDA stream"));
  for (Piece& piece : pieces_) {
    TP_TRY(cuda_->check(cuda_->event_create(&piece.done, cuda::kEventNoTiming), "making a CUDA event"));
    void* memory = nullptr;
    TP_TRY(cuda_->check(cuda_->allocate_host(&memory, kPieceBytes), "taking pinned memory"));
    piece.host = static_cast<std::byte*>(memory);
  }
  return ok_status();
}

// Failures to free are ignored: the process is ending or its GPU has failed.
Gpu::~Gpu() {
  cuda_->set_device(0);
  if (copies_ != nullptr) cuda_->stream_synchronize(copies_);
  for (const Piece& piece : pieces_) {
    if (piece.host != nullptr) cuda_->release_host(piece.host);
    if (piece.done != nullptr) cuda_->event_destroy(piece.done);
  }
  for (const cuda::Event mark : marks_) {
    if (mark != nullptr) cuda_->event_destroy(mark);
  }
  if (copies_ != nullptr) cuda_->stream_destroy(copies_);
}

Status Gpu::check_place(std::span<const std::byte> memory, const std::string& what) const {
  if (memory.empty()) return ok_status();
  cuda::PointerAttributes found;
  const int code = cuda_->pointer_attributes(&found, memory.data());
  if (code == cuda::kSuccess && found.memory == cuda::kMemoryOfDevice && found.device == 0) return ok_status();
  return invalid_argument("\"" + what + "\" is said to lie on the GPU, but " +
                          (code == cuda::kSuccess && found.memory == cuda::kMemoryOfDevice
                               ? "it lies on GPU " + std::to_string(found.device) + ", and a worker uses its first"
                               : "its address is no memory of the GPU") +
                          ": pass memory of the first device that CUDA_VISIBLE_DEVICES shows");
}

Result<cuda::Event> Gpu::mark(std::size_t slot) {
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  if (slot >= marks_.size()) marks_.resize(slot + 1, nullptr);
  cuda::Event& mark = marks_[slot];
  if (mark == nullptr) {
    TP_TRY(cuda_->check(cuda_->event_create(&mark, cuda::kEventNoTiming), "making a CUDA event"));
  }
  TP_TRY(cuda_->check(cuda_->event_record(mark, stream_), "marking the program's stream"));
  return mark;
}

Status Gpu::await(cuda::Event mark) const {
  if (mark == nullptr) return ok_status();
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  return cuda_->check(cuda_->event_synchronize(mark), "waiting for the program's GPU work");
}

Status Gpu::enqueue(void* to, const void* from, std::size_t bytes, const char* what, cuda::Event done) {
  TP_TRY(cuda_->check(cuda_->copy(to, from, bytes, cuda::kCopyAny, copies_), what));
  return cuda_->check(cuda_->event_record(done, copies_), what);
}

// While the GPU fills one piece, the CPU copies the other.
Status Gpu::read(std::span<std::byte> host, const std::byte* device, cuda::Event after) {
  const char* what = "copying from the GPU";
  const std::lock_guard lock(copying_);
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  if (after != nullptr) TP_TRY(cuda_->check(cuda_->stream_wait_event(copies_, after, 0), what));
  std::array<std::span<std::byte>, 2> coming{};
  const auto take = [&](std::size_t i) -> Status {
    if (coming[i].empty()) return ok_status();
    TP_TRY(cuda_->check(cuda_->event_synchronize(pieces_[i].done), what));
    std::copy_n(pieces_[i].host, coming[i].size(), coming[i].data());
    coming[i] = {};
    return ok_status();
  };
  std::size_t turn = 0;
  for (; !host.empty(); turn = 1 - turn) {
    TP_TRY(take(turn));
    coming[turn] = host.first(std::min(host.size(), kPieceBytes));
    TP_TRY(enqueue(pieces_[turn].host, device, coming[turn].size(), what, pieces_[turn].done));
    device += coming[turn].size();
    host = host.subspan(coming[turn].size());
  }
  TP_TRY(take(turn));
  return take(1 - turn);
}

Status Gpu::write(std::byte* device, std::span<const std::byte> host) {
  const char* what = "copying to the GPU";
  const std::lock_guard lock(copying_);
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  for (std::size_t turn = 0; !host.empty(); turn = 1 - turn) {
    const Piece& piece = pieces_[turn];
    TP_TRY(cuda_->check(cuda_->event_synchronize(piece.done), what));  // the GPU has read the earlier contents
    const auto part = host.first(std::min(host.size(), kPieceBytes));
    std::ranges::copy(part, piece.host);
    TP_TRY(enqueue(device, piece.host, part.size(), what, piece.done));
    device += part.size();
    host = host.subspan(part.size());
  }
  return cuda_->check(cuda_->stream_synchronize(copies_), what);
}

}  // namespace tidepool::runtime
