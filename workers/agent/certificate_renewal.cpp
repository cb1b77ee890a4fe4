#include "workers/agent/certificate_renewal.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/word_list.hpp"

namespace tidepool::agent {
namespace {

constexpr std::int64_t kLooks = 20;  // checks in the lifetime of a certificate, at least
constexpr std::int64_t kHour = 3'600;

std::int64_t life_of(const tls::Client& client) {
  return client.validity.until_unix_s - client.validity.from_unix_s;
}

}  // namespace

CertificateRenewal::CertificateRenewal(boost::asio::io_context& io, std::filesystem::path state_dir,
                                       std::optional<NodeIdentity> identity, Handlers handlers)
    : timer_(io), state_dir_(std::move(state_dir)), identity_(std::move(identity)), handlers_(std::move(handlers)) {}

void CertificateRenewal::welcomed() {
  if (identity_) look_again();
}

void CertificateRenewal::link_closed() {
  timer_.cancel();
}

void CertificateRenewal::look_again() {
  if (!is_written_) write();
  if (const Status asked = ask_if_due(); !asked.ok()) {
    spdlog::error("the certificate of this node cannot be renewed: {}", asked.error().message);
  }
  const auto now = tls::read_client(identity_->certificate);
  const std::int64_t wait = now ? std::clamp(life_of(*now) / kLooks, std::int64_t{1}, kHour) : kHour;
  timer_.expires_after(std::chrono::seconds(wait));
  timer_.async_wait([this](boost::system::error_code failed) {
    if (!failed) look_again();
  });
}

Status CertificateRenewal::ask_if_due() {
  const auto now = tls::read_client(identity_->certificate);
  if (!now) return now.error();
  if (unix_seconds() < now->validity.from_unix_s + life_of(*now) * 2 / 3) return ok_status();
  auto request = tls::signing_request(identity_->key);
  if (!request) return request.error();
  handlers_.send({.token = {}, .node = identity_->node, .request = *std::move(request)});
  return ok_status();
}

void CertificateRenewal::take(const api::CertificateIssued& issued) {
  if (!identity_) return;
  NodeIdentity renewed = *identity_;
  renewed.certificate = issued.certificate;
  if (const Status kept = keep(std::move(renewed)); !kept.ok()) {
    return spdlog::error("the new certificate of this node cannot be used: {}", kept.error().message);
  }
  spdlog::info("the certificate of this node is renewed");
}

void CertificateRenewal::take(const api::TrustedAuthorities& told) {
  if (!identity_ || told.fingerprints == identity_->authorities) return;
  NodeIdentity changed = *identity_;
  changed.authorities = told.fingerprints;
  if (const Status kept = keep(std::move(changed)); !kept.ok()) {
    return spdlog::error("the daemon's new authorities cannot be used: {}", kept.error().message);
  }
  spdlog::info("from the next link on this node knows the daemon by {}", word_list(identity_->authorities));
}

// Fails without a change if the certificate is for another key, or if a fingerprint is not valid.
Status CertificateRenewal::keep(NodeIdentity changed) {
  auto context = context_of(changed);
  if (!context) return context.error();
  identity_ = std::move(changed);
  handlers_.use(*std::move(context));
  write();
  return ok_status();
}

// If its folder has no space, the node must still be able to connect after its previous certificate has expired.
void CertificateRenewal::write() {
  const Status written = write_identity(state_dir_, *identity_);
  if (std::exchange(is_written_, written.ok()) == written.ok()) return;
  if (written.ok()) return spdlog::info("the new certificate and authorities of this node are in its folder now");
  spdlog::error(
      "the new certificate and authorities of this node cannot be written: {}; they are used until this agent ends; "
      "mend that before, else the node may have to join anew",
      written.error().message);
}

}  // namespace tidepool::agent
