#include "schedulerd/live/setup/given_certificate.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/files/whole_file.hpp"
#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kReadEvery = 60;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kWarnBefore = 14 * kDay;

Status check_times(const TlsConfig& given, const std::string& chain, std::int64_t now) {
  const auto validity = tls::validity_of(chain);
  if (!validity.ok()) return invalid_argument("tls.certificate: " + validity.error().message);
  if (now >= validity->until_unix_s) {
    return invalid_argument("tls.certificate: " + given.certificate + " has expired; put a renewed one in its place");
  }
  if (now < validity->from_unix_s) {
    return invalid_argument("tls.certificate: " + given.certificate +
                            " is not valid yet; look at the clock of this machine, or wait");
  }
  return ok_status();
}

// The error names the setting, `what`, and the file.
Result<std::string> read_pem_file(const std::string& what, const std::string& path) {
  auto text = read_whole_file(path);
  if (!text.ok()) return invalid_argument(what + ": " + text.error().message);
  return text;
}

}  // namespace

Result<GivenFiles> read_given_certificate(const TlsConfig& given, std::int64_t now_unix_s) {
  auto chain = read_pem_file("tls.certificate", given.certificate);
  if (!chain.ok()) return chain.error();
  auto key = read_secret_file(given.key);
  if (!key.ok()) return invalid_argument("tls.key: " + key.error().message);
  TP_TRY(check_times(given, *chain, now_unix_s));
  GivenFiles files;
  files.identity = {.chain = *std::move(chain), .key = *std::move(key) + "\n"};
  if (given.ca.empty()) return files;
  const auto known = read_pem_file("tls.ca", given.ca);
  if (!known.ok()) return known.error();
  auto fingerprints = tls::fingerprints(*known);
  if (!fingerprints.ok()) return invalid_argument("tls.ca: " + fingerprints.error().message);
  auto authority = tls::authority_of(files.identity.chain, *known);
  if (!authority.ok()) {
    return invalid_argument("tls.ca: " + given.certificate + " comes from no authority in " + given.ca + " (" +
                            authority.error().message +
                            "); add the certificate of its root authority there, and to tls.certificate what lies "
                            "between the two");
  }
  files.identity.chain += "\n" + *known;
  files.ca_fingerprint = *std::move(authority);
  files.authorities = *std::move(fingerprints);
  return files;
}

void warn_of_other_names(const TlsConfig& given, const tls::Identity& identity, const std::vector<std::string>& names) {
  const auto covered = tls::covered_names(identity.chain, names);
  if (!covered.ok() || !covered->empty()) return;
  spdlog::warn(
      "event=certificate_names file={} why=\"it covers none of the names under which this daemon answers: {}\"",
      given.certificate, word_list(names));
}

GivenCertificate::GivenCertificate(TlsConfig given, std::vector<std::string> names, GivenFiles shown,
                                   std::vector<tls::Context> contexts)
    : given_(std::move(given)), names_(std::move(names)), shown_(std::move(shown)), contexts_(std::move(contexts)) {}

bool GivenCertificate::tend(std::int64_t now_unix_s) {
  // A clock that was put back must not stop the reading.
  if (now_unix_s >= read_at_ && now_unix_s < read_at_ + kReadEvery) return false;
  read_at_ = now_unix_s;
  const auto before = shown_.authorities;
  read(now_unix_s);
  warn_of_end(now_unix_s);
  return shown_.authorities != before;
}

void GivenCertificate::read(std::int64_t now_unix_s) {
  auto files = read_given_certificate(given_, now_unix_s);
  const tls::Identity& now = shown_.identity;
  if (files.ok() && files->identity.chain == now.chain && files->identity.key == now.key) {
    told_.clear();
    return;
  }
  const Status done = files.ok() ? show(*std::move(files)) : Status(files.error());
  if (!done.ok() && done.error().message != told_) {
    spdlog::warn("event=certificate_kept why={:?} next=\"the one before is shown; the files are read every minute\"",
                 done.error().message);
  }
  told_ = done.ok() ? "" : done.error().message;
}

Status GivenCertificate::show(GivenFiles files) {
  for (const auto& context : contexts_) TP_TRY(tls::show_from_now_on(context, files.identity));
  const std::string before = shown_.ca_fingerprint;
  {
    const std::lock_guard lock(mutex_);
    shown_ = std::move(files);
  }
  warned_at_ = 0;
  spdlog::info("event=certificate_renewed file={} expires={}", given_.certificate,
               timestamp_text(tls::expiry_unix_s(shown_.identity.chain).value()));
  if (shown_.ca_fingerprint != before) {
    spdlog::warn(
        "event=authority_changed file={} fingerprint={} before={} next=\"new node tokens carry it; nodes and clients "
        "that know only the one before refuse this daemon when they connect again (docs/security.md)\"",
        given_.ca, shown_.ca_fingerprint, before);
  }
  warn_of_other_names(given_, shown_.identity, names_);
  return ok_status();
}

std::string GivenCertificate::ca_fingerprint() const {
  const std::lock_guard lock(mutex_);
  return shown_.ca_fingerprint;
}

std::int64_t GivenCertificate::end_unix_s() const {
  const std::lock_guard lock(mutex_);
  return tls::expiry_unix_s(shown_.identity.chain).value();
}

void GivenCertificate::warn_of_end(std::int64_t now_unix_s) {
  const std::int64_t end = tls::expiry_unix_s(shown_.identity.chain).value();
  if (end - now_unix_s > kWarnBefore || now_unix_s < warned_at_ + kDay) return;
  warned_at_ = now_unix_s;
  spdlog::warn(
      "event=certificate_ends file={} expires={} next=\"put a renewed one in its place: it is read by itself\"",
      given_.certificate, timestamp_text(end));
}

}  // namespace tidepool::live
