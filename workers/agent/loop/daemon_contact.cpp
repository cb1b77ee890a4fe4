#include "workers/agent/loop/daemon_contact.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>
#include <variant>

namespace tidepool::agent {

DaemonContact::DaemonContact(boost::asio::io_context& io, const AgentOptions& options, Handlers handlers)
    : node_(options.node),
      token_file_(options.token_file),
      has_joined_(options.identity.has_value()),
      handlers_(std::move(handlers)),
      address_(options.data_address, options.isolation.denied),
      link_(io, options.daemon,
            {.on_opened = [this] { on_opened(); },
             .on_message = [this](api::DaemonToAgent message) { on_message(std::move(message)); },
             .on_closed = [this](const std::string& why) { on_closed(why); }}),
      renewal_(io, options.state_dir, options.identity,
               {.send = [this](const api::CertificateRequest& request) { link_.send(request); },
                .use = [this](tls::Context context) { link_.secure(std::move(context)); }}) {}

void DaemonContact::send_hello_once(api::AgentHello hello) {
  auto token = read_token(token_file_);
  if (!token) return link_.close(token.error().message);
  hello.token = std::move(*token);
  hello.node = node_;
  hello.data_address = address_.host();
  hello.follows_authorities = has_joined_ ? std::optional(true) : std::nullopt;
  link_.send(hello);
}

bool DaemonContact::finish() {
  finishing_ = true;
  if (!link_.is_open()) return false;
  link_.finish();
  return true;
}

void DaemonContact::on_opened() {
  if (const Status known = address_.learn(link_.own_host()); !known.ok()) return link_.close(known.error().message);
  handlers_.on_opened();
}

void DaemonContact::on_message(api::DaemonToAgent message) {
  if (const auto* issued = std::get_if<api::CertificateIssued>(&message)) return renewal_.take(*issued);
  if (const auto* told = std::get_if<api::TrustedAuthorities>(&message)) return renewal_.take(*told);
  if (const auto* welcome = std::get_if<api::AgentWelcome>(&message)) {
    spdlog::info("the daemon knows this node as {}", welcome->node.text());
    last_loss_.clear();
    renewal_.welcomed();
  }
  handlers_.on_message(std::move(message));
}

void DaemonContact::on_closed(const std::string& why) {
  renewal_.link_closed();
  // Logged once, not at every attempt.
  if (!finishing_ && std::exchange(last_loss_, why) != why) {
    spdlog::warn("no link to the daemon: {}; trying again", why);
  }
  handlers_.on_closed(why);
}

}  // namespace tidepool::agent
