#include "policies/host/policy_fault.hpp"

namespace tidepool::policies::host {

std::string to_text(const PolicyFault& fault) {
  std::string where = fault.hook;
  if (fault.job != JobId()) where += (where.empty() ? "" : ", ") + fault.job.text();
  return std::string(fault.code) + (where.empty() ? "" : " (" + where + ")") + ": " + fault.message;
}

}  // namespace tidepool::policies::host
