#include "workers/runtime/comm/gloo_comm.hpp"

#include <arpa/inet.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "workers/runtime/comm/gloo_transport.hpp"
#include "workers/runtime/comm/guarded_context.hpp"

namespace tidepool::runtime {
namespace {

constexpr Millis kSettleTimeout{5'000};

// Gloo writes to its sockets without MSG_NOSIGNAL, so a peer's death would kill this process. A program that handles
// SIGPIPE itself keeps its handler.
void outlive_broken_connections() {
  struct sigaction present{};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

bool is_ipv6(const std::string& host) {
  return host.find(':') != std::string::npos;
}

// The address in Gloo's format. Requires: `host` is an IP address.
std::vector<char> gloo_address(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    return gloo::transport::tcp::Address(reinterpret_cast<const sockaddr*>(&v4), sizeof v4).bytes();
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) throw std::runtime_error(host + " is no IP address");
  return gloo::transport::tcp::Address(reinterpret_cast<const sockaddr*>(&v6), sizeof v6).bytes();
}

// If `why` says that this host lacks a resource for the mesh: how much it needs, and what to do.
std::string advice(const std::string& why, int size) {
  const std::string others = std::to_string(size - 1) + " others";
  if (why.find(std::strerror(EADDRINUSE)) != std::string::npos) {
    return "; no port is free: each worker of this host takes one for each of its " + others +
           ", so place fewer workers on a host, or widen net.ipv4.ip_local_port_range";
  }
  if (why.find(std::strerror(EMFILE)) == std::string::npos) return "";
  return "; this worker has a connection to each of its " + others +
         ": raise the hard limit of open files of its agent (ulimit -Hn, or LimitNOFILE= of the service)";
}

// Gloo's collectives need a gloo::Context; this one is connected here instead of through a store.
class MeshContext final : public gloo::Context {
 public:
  MeshContext(int rank_here, int size_here) : gloo::Context(rank_here, size_here) {}
  void set_transport(std::shared_ptr<gloo::transport::Device> device,
                     std::shared_ptr<gloo::transport::Context> transport) {
    device_ = std::move(device);
    transportContext_ = std::move(transport);
  }
};

class Mesh final : public GlooComm {
 public:
  explicit Mesh(const GlooOptions& options)
      : options_(options), context_(std::make_shared<MeshContext>(options.rank, options.size)) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = options.host;
    auto device =
        std::dynamic_pointer_cast<gloo::transport::tcp::Device>(gloo::transport::tcp::CreateDevice(attributes));
    guarded_ = std::make_shared<GuardedContext>(device, options.rank, options.size, options.warn);
    transport_ = std::make_shared<BreakableTransport>(guarded_, device);
    transport_->set_connect_timeout(options.connect_timeout);
    const auto quick = transport_->quicken();  // also if listening fails and all pairs are closed
    for (int peer = 0; peer < options.size; ++peer) {
      if (peer != options.rank) transport_->createPair(peer)->setLocalRank(0);
    }
    context_->set_transport(std::move(device), transport_);
    context_->setTimeout(options.collective_timeout);
  }

  ~Mesh() override {
    closing_ = transport_->quicken();
    transport_->abort();
  }

  [[nodiscard]] int rank() const override { return options_.rank; }
  [[nodiscard]] int size() const override { return options_.size; }

  [[nodiscard]] api::CommAddress::Gloo address() const override {
    api::CommAddress::Gloo result{.host = options_.host, .entries = {}};
    for (int peer = 0; peer < options_.size; ++peer) {
      result.entries.push_back(peer == options_.rank ? GuardedContext::Entry{} : guarded_->entry_for(peer));
    }
    return result;
  }

  [[nodiscard]] Status connect(const std::vector<api::CommAddress::Gloo>& addresses) override {
    for (int peer = 0; peer < options_.size; ++peer) {
      TP_TRY(check_within_reach(peer, addresses.at(static_cast<std::size_t>(peer))));
    }
    return guarded("connecting to the other workers", [&] {
      const auto quick = transport_->quicken();
      for (int peer = 0; peer < options_.size; ++peer) {
        if (peer == options_.rank) continue;
        const api::CommAddress::Gloo& there = addresses[static_cast<std::size_t>(peer)];
        const GuardedContext::Entry& entry = *own_entry(there);
        guarded_->set_key_of(peer, entry.key);
        transport_->getPair(peer)->connect(gloo_address(there.host, entry.port));
      }
      transport_->watch_connections();
    });
  }

  [[nodiscard]] Status allreduce(std::span<float> values) override {
    return guarded("allreduce", [&] {
      gloo::AllreduceOptions call(context_);
      call.setOutput(values.data(), values.size());
      call.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      call.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
      call.setTag(++tag_);
      gloo::allreduce(call);
    });
  }

  [[nodiscard]] Status broadcast(std::span<std::byte> bytes, int root) override {
    if (bytes.empty()) return ok_status();
    return guarded("broadcast", [&] {
      gloo::BroadcastOptions call(context_);
      call.setOutput(reinterpret_cast<char*>(bytes.data()), bytes.size());
      call.setRoot(root);
      call.setTag(++tag_);
      gloo::broadcast(call);
    });
  }

  [[nodiscard]] Result<std::vector<std::int64_t>> allgather(std::span<const std::int64_t> mine) override {
    std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(options_.size));
    const Status status = gather(mine, all, options_.collective_timeout);
    if (!status.ok()) return status.error();
    return all;
  }

  void settle() override {
    const std::int64_t nothing = 0;
    std::vector<std::int64_t> all(static_cast<std::size_t>(options_.size));
    // A failure means that a rank has already settled and left, which is the purpose of the wait.
    static_cast<void>(gather({&nothing, 1}, all, kSettleTimeout).ok());
  }

  void abort() noexcept override { transport_->abort(); }

 private:
  [[nodiscard]] const GuardedContext::Entry* own_entry(const api::CommAddress::Gloo& there) const {
    return there.entry_of(static_cast<std::size_t>(options_.rank), static_cast<std::size_t>(options_.size));
  }

  // Reports an address that leads to another process, or nowhere, before the connection is tried.
  [[nodiscard]] Status check_within_reach(int peer, const api::CommAddress::Gloo& there) const {
    const std::string sender = "rank " + std::to_string(peer);
    if (options_.size > 1 && own_entry(there) == nullptr) return invalid_argument(sender + " sent a bad address");
    if (api::is_loopback_address(there.host) == api::is_loopback_address(options_.host) &&
        is_ipv6(there.host) == is_ipv6(options_.host)) {
      return ok_status();
    }
    return invalid_argument(sender + " listens on " + there.host + " and this worker on " + options_.host +
                            ", which do not reach each other: give their agents addresses of one network, with "
                            "--data-address");
  }

  Status gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all, Millis timeout) {
    return guarded("allgather", [&] {
      gloo::AllgatherOptions call(context_);
      call.setInput(const_cast<std::int64_t*>(mine.data()), mine.size());  // Gloo only reads it
      call.setOutput(all.data(), all.size());
      call.setTag(++tag_);
      call.setTimeout(timeout);
      gloo::allgather(call);
    });
  }

  template <class Call>
  Status guarded(const char* what, Call call) {
    std::string why = "a member is gone";
    try {
      call();
      // A wait that abort() ended last may return without an exception.
      if (!transport_->aborted()) return ok_status();
    } catch (const std::exception& error) {
      if (!transport_->aborted()) why = error.what();
    }
    return Error{ErrorCode::kUnavailable, std::string(what) + ": " + why};
  }

  std::unique_ptr<QuickTicks> closing_;  // first, so that it is destroyed after all connections
  GlooOptions options_;
  std::shared_ptr<MeshContext> context_;
  std::shared_ptr<GuardedContext> guarded_;
  std::shared_ptr<BreakableTransport> transport_;
  std::uint32_t tag_ = 0;
};

}  // namespace

Result<std::shared_ptr<GlooComm>> GlooComm::open(const GlooOptions& options) {
  outlive_broken_connections();
  try {
    return std::shared_ptr<GlooComm>(std::make_shared<Mesh>(options));
  } catch (const std::exception& error) {
    return io_error("cannot listen on " + options.host + " for the other workers: " + error.what() +
                    advice(error.what(), options.size));
  }
}

}  // namespace tidepool::runtime
