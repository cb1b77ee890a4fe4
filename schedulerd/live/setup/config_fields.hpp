// Single values of a configuration, from a flag or a field of the file, read into a Config. Each error is a sentence
// that names the place of the value and what to write.
//
// Rule: reading continues after an invalid value, so that all errors are reported at once; a Config with an error is
// not used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "schedulerd/live/setup/config.hpp"

namespace tidepool::live {

class ConfigFields {
 public:
  // Both outlive this object.
  ConfigFields(Config& config, std::vector<std::string>& errors) : config_(config), errors_(errors) {}

  void endpoint(const std::string& what, const std::string& text, Endpoint& into);
  // The field "listen" of a section.
  void listen(ObjectReader& in, const std::string& section, Endpoint& into);
  // After everything is read: the position of the TLS settings does not matter.
  void refuse_open_binds();
  void slots(const std::string& what, std::int64_t count);
  void policy(const std::string& what, const std::string& name, const std::vector<std::string>& known);
  void duration(const std::string& what, const std::string& text, Duration& into);
  // The field of a section; without a unit it is a number in YAML.
  void duration(ObjectReader& in, const std::string& section, const std::string& name, Duration& into);
  // Such as "20GiB".
  void bytes(const std::string& what, const std::string& text, std::int64_t& into);
  // As in the header Host: a name or an address, with a port where clients send one.
  void allowed_host(const std::string& what, const std::string& name);
  void currency(const std::string& what, const std::string& code);
  void complain(const std::string& what, const std::string& why) { errors_.push_back(what + ": " + why); }

 private:
  Config& config_;
  std::vector<std::string>& errors_;
};

}  // namespace tidepool::live
