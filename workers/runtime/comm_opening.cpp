#include "workers/runtime/comm_opening.hpp"

#include <cstdlib>

#include "workers/runtime/comm_address.hpp"
#include "workers/runtime/log.hpp"

namespace tidepool::runtime {
namespace {

bool was_given_gpus() {
  const char* devices = std::getenv("CUDA_VISIBLE_DEVICES");
  return devices != nullptr && *devices != '\0';
}

Status load_gpu_libraries(Transports& transports) {
  auto cuda = CudaLibrary::load();
  if (!cuda.ok()) return cuda.error();
  auto nccl = NcclLibrary::load();
  if (!nccl.ok()) return nccl.error();
  transports.cuda = *std::move(cuda);
  transports.nccl = *std::move(nccl);
  return ok_status();
}

}  // namespace

Result<Backend> parse_backend(const std::string& text) {
  if (text.empty() || text == "auto") return Backend::kAuto;
  if (text == "gloo") return Backend::kGloo;
  if (text == "nccl") return Backend::kNccl;
  return invalid_argument("TIDEPOOL_BACKEND is \"" + text + "\"; it can be auto, gloo or nccl");
}

Result<Transports> find_transports(Backend wanted) {
  Transports transports{.gloo = wanted != Backend::kNccl};
  if (wanted == Backend::kGloo || (wanted == Backend::kAuto && !was_given_gpus())) return transports;
  const Status loaded = load_gpu_libraries(transports);
  if (loaded.ok()) {
    log_info("NCCL " + transports.nccl->version_text() + " from " + transports.nccl->file);
    return transports;
  }
  if (wanted == Backend::kNccl) return loaded.error();
  transports.why_no_nccl = loaded.error().message;
  log_info("this worker has a GPU but cannot use NCCL: " + transports.why_no_nccl);
  return transports;
}

Result<std::shared_ptr<CommOpening>> CommOpening::open(const Transports& transports,
                                                       const CommOpeningOptions& options) {
  std::shared_ptr<GlooComm> gloo;
  std::shared_ptr<NcclComm> nccl;
  if (transports.gloo) {
    auto opened = GlooComm::open({.rank = options.rank,
                                  .size = options.size,
                                  .host = options.host,
                                  .connect_timeout = options.connect_timeout,
                                  .collective_timeout = options.collective_timeout,
                                  .warn = log_warning});
    if (!opened.ok() && !transports.nccl) return opened.error();
    if (opened.ok()) {
      gloo = *std::move(opened);
    } else {
      log_warning("without Gloo: " + opened.error().message);
    }
  }
  if (transports.nccl) {
    auto opened = NcclComm::open({.nccl = transports.nccl,
                                  .cuda = transports.cuda,
                                  .rank = options.rank,
                                  .size = options.size,
                                  .connect_timeout = options.connect_timeout,
                                  .collective_timeout = options.collective_timeout});
    if (!opened.ok() && !gloo) return opened.error();
    if (opened.ok()) {
      nccl = *std::move(opened);
    } else {
      log_warning("without NCCL: " + opened.error().message);
    }
  }
  const int version = nccl ? transports.nccl->version : 0;
  return std::shared_ptr<CommOpening>(new CommOpening(std::move(gloo), std::move(nccl), version));
}

std::string CommOpening::address() const {
  CommAddress address;
  if (nccl_) address.nccl = CommAddress::Nccl{.version = nccl_version_, .id = nccl_->address()};
  if (gloo_) address.gloo = gloo_->address();
  return address.encode();
}

Result<std::shared_ptr<Comm>> CommOpening::connect(const std::vector<std::string>& addresses) {
  std::vector<CommAddress> told;
  std::vector<CommAddress::Gloo> gloo;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    auto address = CommAddress::decode(addresses[rank]);
    if (!address.ok()) return invalid_argument("rank " + std::to_string(rank) + " sent " + address.error().message);
    gloo.push_back(address->gloo.value_or(CommAddress::Gloo{}));
    told.push_back(*std::move(address));
  }
  const auto agreed = agree_on_transport(told);
  if (!agreed.ok()) return agreed.error();
  if (agreed->transport == Transport::kNccl) {
    TP_TRY(nccl_->connect(told[0].nccl->id));
    if (gloo_) gloo_->abort();
    return std::shared_ptr<Comm>(nccl_);
  }
  if (!agreed->why_not_nccl.empty()) log_info("over Gloo, since " + agreed->why_not_nccl);
  TP_TRY(gloo_->connect(gloo));
  return std::shared_ptr<Comm>(gloo_);
}

void CommOpening::abort() noexcept {
  if (gloo_) gloo_->abort();
  if (nccl_) nccl_->abort();
}

}  // namespace tidepool::runtime
