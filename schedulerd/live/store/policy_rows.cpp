#include "schedulerd/live/store/policy_rows.hpp"

#include <optional>

#include "base/json.hpp"

namespace tidepool::live {

PolicyVersion policy_at(const Row& row) {
  PolicyVersion version{row.text(0), row.text(1), row.text(2), row.text(3),
                        row.text(4), row.text(5), row.text(6), std::nullopt};
  if (row.is_null(7)) return version;
  if (const auto checks = parse_json(row.text(7))) version.checks = checks_from_json(*checks);
  return version;
}

}  // namespace tidepool::live
