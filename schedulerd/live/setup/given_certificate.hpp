// A certificate that the daemon was given in files. They are read anew every minute, so that a renewed one is shown
// without a restart; one that cannot be shown is logged, and the one before stays.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "tls/context.hpp"

namespace tidepool::live {

// What the files hold. Refused if clients could not accept it: it has expired, is not valid yet, comes from none of the
// given authorities, or others may read its key.
struct GivenFiles {
  tls::Identity identity;      // the certificate with its authority's behind it, and the key
  std::string ca_fingerprint;  // of the authority that it comes from; empty = none is given
  // Fingerprints of all that are given: while one replaces another, clients are to know both.
  std::vector<std::string> authorities;
};
[[nodiscard]] Result<GivenFiles> read_given_certificate(const TlsConfig& given, std::int64_t now_unix_s);
// Logs that it is for none of the names under which the daemon answers; it may be meant for a proxy.
void warn_of_other_names(const TlsConfig& given, const tls::Identity& identity, const std::vector<std::string>& names);

class GivenCertificate {
 public:
  // `contexts` show `shown`.
  GivenCertificate(TlsConfig given, std::vector<std::string> names, GivenFiles shown,
                   std::vector<tls::Context> contexts);

  // Reads the files if a minute has passed since, and warns once a day of a certificate that ends within two weeks.
  // Whether authorities() have changed by that.
  bool tend(std::int64_t now_unix_s);
  // The certificate that is shown, with its authority's behind it.
  [[nodiscard]] const std::string& chain() const { return shown_.identity.chain; }
  [[nodiscard]] const std::vector<std::string>& authorities() const { return shown_.authorities; }
  // Of the authority that is shown now; from any thread.
  [[nodiscard]] std::string ca_fingerprint() const;
  // When the certificate that is shown now ends; from any thread.
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
  std::string told_;  // why the files were refused last; empty = they were not
  std::int64_t read_at_ = 0;
  std::int64_t warned_at_ = 0;
};

}  // namespace tidepool::live
