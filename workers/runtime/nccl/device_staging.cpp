#include "workers/runtime/nccl/device_staging.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::runtime {

Result<std::unique_ptr<DeviceStaging>> DeviceStaging::create(std::shared_ptr<const CudaLibrary> cuda,
                                                             std::size_t bytes) {
  std::unique_ptr<DeviceStaging> staging(new DeviceStaging(std::move(cuda), bytes));
  TP_TRY(staging->allocate());
  return staging;
}

Status DeviceStaging::allocate() {
  TP_TRY(cuda_->check(cuda_->set_device(0), "choosing the GPU"));
  TP_TRY(cuda_->check(cuda_->stream_create(&stream_, cuda::kStreamNonBlocking), "making a CUDA stream"));
  for (Slot& slot : slots_) {
    TP_TRY(cuda_->check(cuda_->event_create(&slot.event, cuda::kEventNoTiming), "making a CUDA event"));
    void* host = nullptr;
    void* device = nullptr;
    TP_TRY(cuda_->check(cuda_->allocate_host(&host, bytes_), "taking pinned memory for the communicator"));
    slot.host = static_cast<std::byte*>(host);
    TP_TRY(cuda_->check(cuda_->allocate(&device, bytes_), "taking GPU memory for the communicator"));
    slot.device = static_cast<std::byte*>(device);
  }
  return ok_status();
}

// Failures to free are ignored: the process is ending or its GPU has failed.
DeviceStaging::~DeviceStaging() {
  cuda_->set_device(0);
  if (stream_ != nullptr) cuda_->stream_synchronize(stream_);
  for (const Slot& slot : slots_) {
    if (slot.device != nullptr) cuda_->release(slot.device);
    if (slot.host != nullptr) cuda_->release_host(slot.host);
    if (slot.event != nullptr) cuda_->event_destroy(slot.event);
  }
  if (stream_ != nullptr) cuda_->stream_destroy(stream_);
}

Status DeviceStaging::upload(std::size_t slot, std::span<const std::byte> bytes, std::size_t offset) {
  TP_CHECK(offset + bytes.size() <= bytes_, "a slot holds what is put into it");
  std::byte* host = slots_[slot].host + offset;
  std::copy(bytes.begin(), bytes.end(), host);
  return cuda_->check(cuda_->copy(slots_[slot].device + offset, host, bytes.size(), cuda::kCopyAny, stream_),
                      "copying to the GPU");
}

Status DeviceStaging::fetch(std::size_t slot, std::size_t length) {
  return cuda_->check(cuda_->copy(slots_[slot].host, slots_[slot].device, length, cuda::kCopyAny, stream_),
                      "copying from the GPU");
}

Status DeviceStaging::mark(std::size_t slot) {
  return cuda_->check(cuda_->event_record(slots_[slot].event, stream_), "marking the CUDA stream");
}

}  // namespace tidepool::runtime
