// A certificate that the operator provides in files. The files are read every minute, so that a renewed one is used
// without a restart; an unusable one is logged, and the previous one stays in use.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "tls/context.hpp"

namespace tidepool::live {

// Reads the files. An error if clients could not accept the certificate: it has expired, is not valid yet, is not
// signed by one of the given authorities, or others may read its key.
struct GivenFiles {
  tls::Identity identity;      // the certificate, followed by that of its authority, and the key
  std::string ca_fingerprint;  // of the authority that signed it; empty = not given
  // Fingerprints of all given authorities: while one replaces another, clients should know both.
  std::vector<std::string> authorities;
};
[[nodiscard]] Result<GivenFiles> read_given_certificate(const TlsConfig& given, std::int64_t now_unix_s);
// Logs if it is valid for none of the daemon's names; it may be meant for a proxy.
void warn_of_other_names(const TlsConfig& given, const tls::Identity& identity, const std::vector<std::string>& names);

class GivenCertificate {
 public:
  // `contexts` use `shown`.
  GivenCertificate(TlsConfig given, std::vector<std::string> names, GivenFiles shown,
                   std::vector<tls::Context> contexts);

  // Reads the files if a minute has passed since the last time, and warns once a day of a certificate that ends within
  // two weeks.
  bool tend(std::int64_t now_unix_s);
  // The certificate in use, followed by that of its authority.
  [[nodiscard]] const std::string& chain() const { return shown_.identity.chain; }
  [[nodiscard]] const std::vector<std::string>& authorities() const { return shown_.authorities; }
  // Of the present authority; from any thread.
  [[nodiscard]] std::string ca_fingerprint() const;
  // When the certificate in use ends; from any thread.
  [[nodiscard]] std::int64_t end_unix_s() const;

 private:
  void read(std::int64_t now_unix_s);
  [[nodiscard]] Status show(GivenFiles files);
  void warn_of_end(std::int64_t now_unix_s);

  TlsConfig given_;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;  // of writing shown_, and of reading it on another thread
  GivenFiles shown_;
  std::vector<tls::Context> contexts_;
  std::string told_;  // the last error of the files; empty = none
  std::int64_t read_at_ = 0;
  std::int64_t warned_at_ = 0;
};

}  // namespace tidepool::live
