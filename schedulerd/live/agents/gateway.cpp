#include "schedulerd/live/agents/gateway.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "api/node_token.hpp"
#include "base/overloaded.hpp"
#include "schedulerd/leader/report_facts.hpp"
#include "schedulerd/live/agents/agent_listeners.hpp"
#include "schedulerd/live/agents/agent_session.hpp"
#include "schedulerd/live/agents/embedded_agent.hpp"
#include "schedulerd/live/agents/log_requests.hpp"
#include "schedulerd/live/agents/node_links.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t kHelloTicksMax = 5;
constexpr const char* kAgentStops = "its agent was stopped, and its workers with it";

std::optional<std::vector<WorkerId>> lost_of(const Admission& admission) {
  return admission.lost.empty() ? std::nullopt : std::optional(admission.lost);
}

Status check_protocol(int protocol) {
  if (protocol == api::kWorkerProtocol) return ok_status();
  return invalid_argument("the agent speaks protocol " + std::to_string(protocol) + ", the daemon " +
                          std::to_string(api::kWorkerProtocol) + "; install the same version on both sides");
}

Instant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant::from_micros(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

std::int64_t ticks_of(Duration patience, Duration heartbeat) {
  return (patience.count_us() + heartbeat.count_us() - 1) / heartbeat.count_us();
}

}  // namespace

// All members belong to the gateway's thread, except what is marked.
struct Gateway::Impl : std::enable_shared_from_this<Gateway::Impl> {
  Impl(GatewayOptions with, Inbox& into)
      : options(std::move(with)),
        inbox(into),
        listeners(io, {.socket_path = options.socket_path, .tcp = options.tcp, .tls = options.tls},
                  [this](auto link, std::string from) { open_session(std::move(link), std::move(from)); }),
        certificate_rate(options.certificate_rate),
        links(ticks_of(options.patience, options.heartbeat)) {}

  void make_room();
  void open_session(tls::Stream<AgentSession::Socket> link, std::string from);
  void on_message(AgentSession& session, api::AgentToDaemon message);
  void on_hello(AgentSession& session, api::AgentHello hello);
  void on_request(AgentSession& session, api::CertificateRequest request);
  [[nodiscard]] Status check_hello(AgentSession& session, const api::AgentHello& hello);
  void send_order(AgentSession& session, api::DaemonToAgent message);
  void send_authorities(AgentSession& session) const;
  void change_authorities(std::vector<std::string> fingerprints);
  void on_closed(AgentSession& session, const std::string& why);
  void refuse(AgentSession& session, const std::string& why);
  void deliver(const OutboxItem& item);
  void admit(const Admission& admission);
  void grant(const CertificateGrant& granted);
  void expel(const NodeExpulsion& expelled);
  void tick();
  void schedule_tick();
  void drop_all();

  GatewayOptions options;
  Inbox& inbox;
  asio::io_context io{1};
  AgentListeners listeners;
  asio::steady_timer timer{io};
  RequestRate certificate_rate;
  std::map<SessionNumber, std::shared_ptr<AgentSession>> sessions;
  NodeLinks links;
  std::map<NodeId, std::shared_ptr<AgentSession>> by_node;
  LogRequests log_requests;
  SessionNumber next_session = 1;
  std::thread thread;                // of the owner
  std::atomic<bool> stopped{false};  // any thread
};

// A client that has the token says hello at once; unknown clients must not take the descriptors of all others, and
// those of one address not the turn of others.
void Gateway::Impl::make_room() {
  std::map<std::string, std::vector<std::shared_ptr<AgentSession>>> unnamed;  // by address, the oldest first
  std::size_t count = 0;
  for (const auto& [number, session] : sessions) {
    if (session->stage != AgentSession::Stage::kHello) continue;
    unnamed[session->from].push_back(session);
    ++count;
  }
  if (count < options.unnamed_max) return;
  const auto most = std::max_element(unnamed.begin(), unnamed.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  if (most != unnamed.end()) most->second.front()->close("too many links without a hello");
}

void Gateway::Impl::open_session(tls::Stream<AgentSession::Socket> link, std::string from) {
  make_room();
  const SessionNumber number = next_session++;
  auto session = std::make_shared<AgentSession>(
      std::move(link), number,
      AgentSession::Handlers{
          .on_message = [this](AgentSession& from, api::AgentToDaemon said) { on_message(from, std::move(said)); },
          .on_closed = [this](AgentSession& from, const std::string& why) { on_closed(from, why); }});
  session->from = std::move(from);
  sessions.emplace(number, session);
  session->start();
}

void Gateway::Impl::on_message(AgentSession& session, api::AgentToDaemon message) {
  if (auto* hello = std::get_if<api::AgentHello>(&message)) return on_hello(session, std::move(*hello));
  if (auto* request = std::get_if<api::CertificateRequest>(&message)) return on_request(session, std::move(*request));
  if (session.stage != AgentSession::Stage::kLive) return refuse(session, "the first line must be a hello");
  std::visit(
      Overloaded{
          [](api::AgentHello&) {},
          [](api::CertificateRequest&) {},
          [](api::AgentHeartbeat&) {},
          [&](api::WorkerExitedReport& report) { inbox.push(WorkerExitedItem{session.node, std::move(report)}); },
          [&](api::FromWorkerReport& report) { inbox.push(FromWorkerItem{session.node, std::move(report)}); },
          [&](api::WorkerStuckReport& report) { inbox.push(WorkerStuckItem{session.node, std::move(report)}); },
          [&](api::SlotsHeldReport& report) { inbox.push(SlotsHeldItem{session.node, std::move(report)}); },
          [&](api::KeptJobsReport& report) { inbox.push(KeptJobsItem{session.node, std::move(report)}); },
          [&](const api::ReclaimReport& report) { inbox.push(NodeReclaimItem{session.node, report}); },
          [&](const api::StoppingReport&) { inbox.push(AgentLostItem{session.node_name, kAgentStops, true}); },
          [&](api::StateWantedReport& said) { inbox.push(StateReportItem{session.node, std::move(said)}); },
          [&](api::StateOfferedReport& said) { inbox.push(StateReportItem{session.node, std::move(said)}); },
          [&](api::StateRefusedReport& said) { inbox.push(StateReportItem{session.node, std::move(said)}); },
          [&](api::StateBroughtReport& said) { inbox.push(StateReportItem{session.node, std::move(said)}); },
          [&](api::StateLeftReport& said) { inbox.push(StateReportItem{session.node, std::move(said)}); },
          [&](api::ProbedReport& report) { inbox.push(NodeProbedItem{session.node, std::move(report)}); },
          [&](api::LogChunk& chunk) { log_requests.answer(session.node, std::move(chunk)); },
      },
      message);
}

void Gateway::Impl::on_hello(AgentSession& session, api::AgentHello hello) {
  if (session.stage != AgentSession::Stage::kHello) return refuse(session, "a link says hello once");
  session.node_name = leader::logged_name(hello.node);  // for the log, also of one that is refused
  if (const Status good = check_hello(session, hello); !good.ok()) {
    spdlog::warn("event=agent_refused node={:?} why={:?}", session.node_name, good.error().message);
    return refuse(session, good.error().message);
  }
  if (const auto why = links.why_taken(hello)) return refuse(session, *why);
  hello.token.clear();
  session.stage = AgentSession::Stage::kJoining;
  session.node_name = hello.node;
  session.instance = hello.instance.value_or("");
  session.tells_starts = hello.starts.has_value();
  session.follows_authorities = hello.follows_authorities.value_or(false);
  session.hold();
  links.join(session.shared_from_this());
  inbox.push(AgentHelloItem{session.number(), std::move(hello), session.key()});
}

// A certificate counts before a token. The loop knows whether it has been revoked.
Status Gateway::Impl::check_hello(AgentSession& session, const api::AgentHello& hello) {
  TP_TRY(check_protocol(hello.protocol));
  if (const std::string shown = session.shown_certificate(); !shown.empty()) {
    auto client = options.nodes.check(shown);
    if (!client.ok()) return client.error();
    if (client->name != hello.node) {
      return invalid_argument("this agent's certificate is for the node " + client->name + ", and it says that it is " +
                              leader::logged_name(hello.node) + "; start it without --node");
    }
    session.certificate = *std::move(client);
  } else if (!equal_in_constant_time(hello.token, options.token)) {
    return invalid_argument("wrong agent token; copy agent.token from the daemon's state directory");
  }
  const auto holder = links.live(hello.node);
  if (holder == nullptr || holder->key() == session.key()) return ok_status();
  return conflict("the name " + hello.node + " is held by a node that is connected and not this one; give this node " +
                  "another name, or stop the agent there first");
}

void Gateway::Impl::on_request(AgentSession& session, api::CertificateRequest request) {
  const auto refuse_it = [&](const std::string& why) {
    spdlog::warn("event=node_join_refused node={:?} why={:?}", leader::logged_name(request.node), why);
    refuse(session, why);
  };
  if (const Status same = check_protocol(request.protocol); !same.ok()) return refuse_it(same.error().message);
  if (!session.secured() || !options.nodes.signs()) {
    return refuse_it("certificates are given over TLS only; start the daemon with --tls");
  }
  if (!certificate_rate.take(session.from, steady_now())) {
    if (session.stage == AgentSession::Stage::kLive) return;  // it asks again, and keeps its link and its workers
    return refuse_it("too many certificate requests from this address; try again in a minute, the token was not used");
  }
  auto key = tls::requested_key(request.request);
  if (!key.ok()) return refuse_it(key.error().message);
  session.request = std::move(request.request);
  if (session.stage == AgentSession::Stage::kLive) {
    if (session.key() != *key) return refuse_it("a certificate is renewed for the key with which the agent has come");
    inbox.push(NodeRenewalItem{session.number(), session.node_name, *std::move(key), options.nodes.lifetime()});
    return;
  }
  if (session.stage != AgentSession::Stage::kHello) return refuse_it("a link asks for one certificate at a time");
  if (request.node == kLocalNode) {
    return refuse_it("the name local is reserved for the daemon's own agent; choose another with --name");
  }
  const auto token = api::read_node_token(request.token);
  if (!token.ok()) return refuse_it(token.error().message);
  session.stage = AgentSession::Stage::kJoining;
  session.hold();
  inbox.push(NodeJoinItem{.session = session.number(),
                          .token_id = token->id,
                          .secret_sha256 = sha256_hex(token->secret),
                          .node = std::move(request.node),
                          .key_sha256 = *std::move(key),
                          .lifetime = options.nodes.lifetime()});
}

void Gateway::Impl::refuse(AgentSession& session, const std::string& why) {
  session.send(api::AgentRefuse{why});
  session.close_after_sending("refused: " + why);
}

void Gateway::Impl::on_closed(AgentSession& session, const std::string& why) {
  spdlog::info("event=agent_link_closed node={:?} why={:?}", session.node_name, why);
  const auto own = by_node.find(session.node);
  if (own != by_node.end() && own->second.get() == &session) by_node.erase(own);
  links.closed(session);
  sessions.erase(session.number());
}

void Gateway::Impl::deliver(const OutboxItem& item) {
  std::visit(Overloaded{
                 [&](const Admission& admission) { admit(admission); },
                 [&](const AgentRefusal& refusal) {
                   const auto session = sessions.find(refusal.session);
                   if (session == sessions.end()) return;
                   refuse(*std::shared_ptr(session->second), refusal.why);
                 },
                 [&](const NodeOrder& order) {
                   const auto session = by_node.find(order.node);
                   if (session != by_node.end()) send_order(*std::shared_ptr(session->second), order.message);
                 },
                 [&](const CertificateGrant& granted) { grant(granted); },
                 [&](const NodeExpulsion& expelled) { expel(expelled); },
             },
             item);
}

void Gateway::Impl::admit(const Admission& admission) {
  const auto found = sessions.find(admission.session);
  if (found == sessions.end()) return;  // gone already, or fenced by a newer one
  const auto session = found->second;
  session->stage = AgentSession::Stage::kLive;
  session->node = admission.node;
  by_node[admission.node] = session;
  links.admit(session);
  session->send(api::AgentWelcome{.node = admission.node,
                                  .heartbeat_ms = options.heartbeat.count_ms(),
                                  .patience_ms = options.patience.count_ms(),
                                  .cluster = options.cluster,
                                  .lost = lost_of(admission)});
  send_authorities(*session);
  for (const auto& order : admission.orders) send_order(*session, order);
  session->release();
}

// Agents of earlier versions know nothing of starts.
void Gateway::Impl::send_order(AgentSession& session, api::DaemonToAgent message) {
  if (auto* start = std::get_if<api::StartWorker>(&message); start != nullptr && !session.tells_starts) {
    start->started_at.reset();
    start->submitted_at.reset();
  }
  session.send(message);
}

void Gateway::Impl::send_authorities(AgentSession& session) const {
  if (session.follows_authorities && !options.authorities.empty()) {
    session.send(api::TrustedAuthorities{options.authorities});
  }
}

void Gateway::Impl::change_authorities(std::vector<std::string> fingerprints) {
  options.authorities = std::move(fingerprints);
  std::string without;
  int told = 0;
  const auto live = by_node;  // a session that cannot take more closes, which changes the map
  for (const auto& [node, session] : live) {
    send_authorities(*session);
    if (session->follows_authorities) ++told;
    if (session->follows_authorities || !session->certificate) continue;
    without += (without.empty() ? "" : ", ") + session->node_name;
  }
  spdlog::info("event=authorities_told nodes={}", told);
  if (without.empty()) return;
  spdlog::warn(
      "event=authorities_not_told nodes={:?} next=\"their agents are of a version that does not follow: install "
      "this one there, or they must be told by hand (docs/security.md)\"",
      without);
}

void Gateway::Impl::grant(const CertificateGrant& granted) {
  const auto found = sessions.find(granted.session);
  if (found == sessions.end()) return;  // gone; it asks again with the same key
  const auto session = found->second;
  if (session->request.empty()) return;  // asked for again before the answer, which has left since
  auto certificate = options.nodes.sign(std::exchange(session->request, {}), granted.node);
  if (!certificate.ok()) {
    spdlog::error("event=node_certificate_failed node={} why={:?}", granted.node, certificate.error().message);
    return refuse(*session, "the daemon cannot sign: " + certificate.error().message);
  }
  session->send(api::CertificateIssued{granted.node, *certificate});
  if (session->stage != AgentSession::Stage::kLive) return session->close_after_sending("it has its certificate");
  if (auto renewed = tls::read_client(*certificate); renewed.ok()) session->certificate = *std::move(renewed);
}

void Gateway::Impl::expel(const NodeExpulsion& expelled) {
  const auto live = links.live(expelled.node);  // closing changes the links
  const auto joining = links.joining(expelled.node);
  if (live != nullptr) refuse(*live, expelled.why);
  if (joining != nullptr) refuse(*joining, expelled.why);
}

// One heartbeat has passed here.
void Gateway::Impl::tick() {
  const std::int64_t patience = ticks_of(options.patience, options.heartbeat);
  const auto now_open = sessions;  // closing changes the map
  for (const auto& [number, session] : now_open) {
    ++session->silent_ticks;
    const bool unnamed = session->stage == AgentSession::Stage::kHello;
    if (session->stage == AgentSession::Stage::kLive && session->silent_ticks > patience) {
      session->close("no heartbeat for " + to_text(options.patience));
    } else if (unnamed && session->silent_ticks > kHelloTicksMax) {
      session->close("no hello");
    } else if (session->certificate && options.nodes.has_expired(*session->certificate)) {
      session->close("the certificate of " + session->node_name + " has expired");
    }
  }
  links.tick([this](const std::string& node, std::int64_t patience_ticks) {
    inbox.push(AgentLostItem{node, "no agent for " + to_text(options.heartbeat * patience_ticks)});
  });
  log_requests.tick([this](NodeId node) { return by_node.contains(node); });
}

void Gateway::Impl::schedule_tick() {
  timer.expires_after(std::chrono::microseconds(options.heartbeat.count_us()));
  timer.async_wait([this](boost::system::error_code failed) {
    if (failed || stopped) return;
    tick();
    schedule_tick();
  });
}

void Gateway::Impl::drop_all() {
  listeners.stop();
  timer.cancel();
  const auto open = sessions;
  for (const auto& [number, session] : open) session->close("the daemon stops");
  log_requests.give_up("the daemon is stopping");
}

Gateway::Gateway(GatewayOptions options, Inbox& inbox) : impl_(std::make_shared<Impl>(std::move(options), inbox)) {}

Gateway::~Gateway() {
  stop();
}

Status Gateway::start() {
  TP_TRY(impl_->listeners.bind());
  for (const auto& name : impl_->options.expected) {
    impl_->links.expect(name, ticks_of(impl_->options.first_patience, impl_->options.heartbeat));
  }
  impl_->listeners.start();
  impl_->schedule_tick();
  impl_->thread = std::thread([impl = impl_] { impl->io.run(); });
  return ok_status();
}

void Gateway::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stopped = true;
  // Once everything is closed nothing is pending and the thread ends by itself.
  asio::post(impl_->io, [impl = impl_] { impl->drop_all(); });
  impl_->thread.join();
  ::unlink(impl_->options.socket_path.c_str());
}

void Gateway::post(std::vector<OutboxItem> items) {
  if (impl_->stopped) return;
  // Shared, because Asio copies what it is to call.
  asio::post(impl_->io, [impl = impl_, items = std::make_shared<const std::vector<OutboxItem>>(std::move(items))] {
    for (const auto& item : *items) impl->deliver(item);
  });
}

void Gateway::send_authorities(std::vector<std::string> fingerprints) {
  if (impl_->stopped) return;
  asio::post(impl_->io,
             [impl = impl_, told = std::move(fingerprints)]() mutable { impl->change_authorities(std::move(told)); });
}

void Gateway::read_log(NodeId node, const api::LogRead& what, std::function<void(Result<LogPage>)> done) {
  if (impl_->stopped) return done(Error{ErrorCode::kUnavailable, "the daemon is stopping"});
  asio::post(impl_->io, [impl = impl_, node, what, done = std::move(done)] {
    const auto session = impl->by_node.find(node);
    if (session == impl->by_node.end()) {
      return done(
          Error{ErrorCode::kUnavailable, "the worker's node (" + node.text() + ") is not connected; try again later"});
    }
    api::LogRead request = what;
    request.request = impl->log_requests.add(node, done);
    std::shared_ptr(session->second)->send(request);
  });
}

std::uint16_t Gateway::tcp_port() const {
  return impl_->listeners.tcp_port();
}

}  // namespace tidepool::live
