#include "policies/host/policy_fault.hpp"

namespace tidepool::policies::host {

std::string to_text(const PolicyFault& fault) {
  return to_text(fault, fault.job ? fault.job.text() : "");
}

std::string to_text(const PolicyFault& fault, const std::string& job) {
  std::string where = fault.hook;
  if (!job.empty()) where += (where.empty() ? "" : ", ") + job;
  return std::string(fault.code) + (where.empty() ? "" : " (" + where + ")") + ": " + fault.message;
}

}  // namespace tidepool::policies::host
