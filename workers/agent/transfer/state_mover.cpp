#include "workers/agent/transfer/state_mover.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "api/base64.hpp"
#include "workers/agent/system/monotonic.hpp"
#include "workers/agent/transfer/receiving.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::ptrdiff_t kServedMax = 16;                    // simultaneously, with a valid ticket
constexpr std::ptrdiff_t kStrangersMax = 64;                 // that have not presented a ticket yet
constexpr Duration kTicketPatience = Duration::seconds(10);  // from the connection on
constexpr std::chrono::milliseconds kAcceptPause{200};       // after a failed accept, perhaps for lack of descriptors
// Between two reports that bytes have arrived.
constexpr Duration kTellPeriod = Duration::seconds(1);

Result<std::string> draw_ticket() {
  std::array<char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return io_error("the kernel gives no random bytes for a ticket");
  }
  return api::encode_base64(std::string(bytes.data(), bytes.size()));
}

}  // namespace

StateMover::StateMover(StateFolders folders, std::int64_t rate, Handlers handlers)
    : folders_(std::move(folders)), handlers_(std::move(handlers)), pacer_(rate) {
  auto key = make_transfer_key();
  if (key.ok()) {
    key_ = *std::move(key);
  } else {
    handlers_.say("no states are moved to or from this node: " + key.error().message);
  }
}

// The destructors of the fetching threads and of the listener ask their threads to end; the listener ends the serving
// threads.
StateMover::~StateMover() = default;

void StateMover::join_cluster(const std::string& cluster) {
  const std::lock_guard lock(mutex_);
  cluster_ = cluster;
}

void StateMover::ask(JobId job, std::int64_t step) {
  if (const auto here = files().open(job, step); here.ok()) {
    return handlers_.feed(StateIsHere{job, step, here->bytes});
  }
  handlers_.send(api::StateWantedReport{.job = job, .step = step, .key = key_ ? key_->print : ""});
}

void StateMover::fetch(const api::FetchState& from) {
  if (!key_) return;
  const std::uint64_t number = next_fetch_++;
  Fetching& fetching = fetches_[from.job];
  fetching.thread = {};  // at most one fetch per job runs: asks the previous one to stop and waits for it
  fetching.number = number;
  fetching.thread = std::jthread([this, from, number, files = files()](const std::stop_token& stop) {
    auto outcome = run_fetch(from, files, number, stop);
    handlers_.post(
        [this, from, number, outcome = std::move(outcome)] { end_fetch(from.job, number, from.step, outcome); });
  });
}

Result<std::int64_t> StateMover::run_fetch(const api::FetchState& from, const SavedFiles& files, std::uint64_t number,
                                           const std::stop_token& stop) {
  const auto context = tls::client_context({.authorities = {}, .fingerprints = {from.key}}, &key_->identity);
  if (!context.ok()) return context.error();
  const auto link = PeerLink::connect(from.host, from.port, *context, stop);
  if (!link.ok()) return link.error();
  std::optional<Instant> told;
  return receive_state(**link, {.files = files,
                                .job = from.job,
                                .step = from.step,
                                .ticket = from.ticket,
                                .bytes_came =
                                    [&] {
                                      const Instant now = monotonic_now();
                                      if (told && now - *told < kTellPeriod) return;
                                      told = now;
                                      handlers_.post([this, job = from.job, number] {
                                        if (is_current(job, number)) handlers_.feed(StateBytesCame{job});
                                      });
                                    },
                                .stop = stop});
}

void StateMover::end_fetch(JobId job, std::uint64_t number, std::int64_t step, const Result<std::int64_t>& outcome) {
  if (!is_current(job, number)) return;
  fetches_.erase(job);
  if (outcome.ok()) {
    handlers_.say("the state of step " + std::to_string(step) + " of " + job.text() +
                  " has come: " + std::to_string(*outcome) + " bytes");
    return handlers_.feed(StateIsHere{job, step, *outcome});
  }
  handlers_.say("the state of " + job.text() + " has not come: " + outcome.error().message);
  handlers_.feed(StateFetchBroke{job, outcome.error().message});
}

bool StateMover::is_current(JobId job, std::uint64_t number) const {
  const auto found = fetches_.find(job);
  return found != fetches_.end() && found->second.number == number;
}

void StateMover::abandon(JobId job) {
  fetches_.erase(job);
  files().forget_incoming(job);
}

void StateMover::offer(const api::OfferState& order, const std::string& host) {
  const auto refuse = [&](const std::string& why) {
    handlers_.send(api::StateRefusedReport{.request = order.request, .why = why});
  };
  if (!key_) return refuse("this agent has no key for transfers");
  const auto state = files().open(order.job, order.step);
  if (!state.ok()) return refuse(state.error().message);
  if (const Status listens = listen(host); !listens.ok()) return refuse(listens.error().message);
  auto ticket = draw_ticket();
  if (!ticket.ok()) return refuse(ticket.error().message);
  {
    const std::lock_guard lock(mutex_);
    tickets_.issue(*ticket, {.job = order.job, .step = order.step, .key = order.key, .until = {}}, monotonic_now());
  }
  handlers_.send(api::StateOfferedReport{.request = order.request,
                                         .ticket = *std::move(ticket),
                                         .host = host,
                                         .port = port_,
                                         .key = key_->authority_print});
}

// Once, at the first offer; again when the node's address has changed.
Status StateMover::listen(const std::string& host) {
  if (host_ == host) return ok_status();
  listener_ = {};
  acceptor_.reset();
  host_.clear();
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return io_error("this node has no address yet at which other agents can reach it");
  const asio::ip::tcp::endpoint place(address, 0);
  acceptor_.emplace(listener_io_);
  acceptor_->open(place.protocol(), error);
  if (!error) acceptor_->bind(place, error);
  if (!error) acceptor_->listen(asio::socket_base::max_listen_connections, error);
  if (error) return io_error("this agent cannot listen at " + host + " for other agents: " + error.message());
  port_ = acceptor_->local_endpoint().port();
  host_ = host;
  listener_ = std::jthread([this](const std::stop_token& stop) { accept(stop); });
  return ok_status();
}

void StateMover::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool ended = false;
    bool failed = false;
    acceptor_->async_accept([&](error_code error, asio::ip::tcp::socket socket) {
      ended = true;
      std::erase_if(served_, [](const auto& each) { return each->over.load(); });
      error_code ignored;
      failed = static_cast<bool>(error);
      const auto admitted = std::ranges::count_if(served_, [](const auto& each) { return each->admitted.load(); });
      const auto strangers = std::ssize(served_) - admitted;
      if (error || admitted >= kServedMax || strangers >= kStrangersMax) return;
      const int accepted = socket.release(ignored);
      if (ignored) return;
      std::unique_lock lock(mutex_);
      const std::string cluster = cluster_;
      lock.unlock();
      serve(accepted, cluster);
    });
    while (!ended && !stop.stop_requested()) {
      if (listener_io_.stopped()) listener_io_.restart();
      listener_io_.run_one_for(kStopPeriod);
    }
    error_code ignored;
    if (!ended) acceptor_->cancel(ignored);
    while (!ended) {
      if (listener_io_.stopped()) listener_io_.restart();
      listener_io_.run_one_for(kStopPeriod);
    }
    if (failed && !stop.stop_requested()) asio::steady_timer(listener_io_, kAcceptPause).wait();
  }
  served_.clear();
}

void StateMover::serve(int accepted, const std::string& cluster) {
  const auto serving = std::make_shared<Serving>();
  served_.push_back(serving);
  // The thread does not share ownership: the list releases a thread only when it is over, or joins it.
  Serving& self = *serving;
  self.thread =
      std::jthread([this, accepted, &self, files = SavedFiles(folders_, cluster)](const std::stop_token& stop) {
        const auto context = tls::server_context_asking(key_->identity);
        const auto link = context.ok() ? PeerLink::serve(accepted, *context, stop, kTicketPatience)
                                       : Result<std::unique_ptr<PeerLink>>(context.error());
        const Sending sending{
            .redeem =
                [this](const std::string& ticket, const std::string& print) {
                  const std::lock_guard lock(mutex_);
                  return tickets_.redeem(ticket, print, monotonic_now());
                },
            .admitted = [&self] { self.admitted = true; },
            .open = [&](const Grant& grant) { return files.open(grant.job, grant.step); },
            .pace = [this](std::int64_t bytes, const std::stop_token& to_stop) { return pace(bytes, to_stop); }};
        const auto sent = link.ok() ? send_state(**link, sending, stop) : Result<std::string>(link.error());
        handlers_.say(sent.ok() ? *sent : "a state was not handed over: " + sent.error().message);
        self.over = true;
      });
}

bool StateMover::pace(std::int64_t bytes, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const Duration wait = pacer_.wait_for(bytes, monotonic_now());
  if (wait > Duration()) {
    paced_.wait_for(lock, stop, std::chrono::microseconds(wait.count_us()), [] { return false; });
  }
  return !stop.stop_requested();
}

}  // namespace tidepool::agent
