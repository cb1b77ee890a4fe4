// Lists of ended jobs that have left the state, the newest first. Rule: every query uses an index, so that the cost of
// a list depends on its length and not on the number of stored jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

inline constexpr const char* kEndedAll =
    "SELECT id,tenant,name,state,submitted_us,finished_us,listed FROM ended_jobs WHERE id<?1 ORDER BY id DESC LIMIT ?2";
inline constexpr const char* kEndedOfState =
    "SELECT id,tenant,name,state,submitted_us,finished_us,listed FROM ended_jobs WHERE state=?3 AND id<?1 "
    "ORDER BY id DESC LIMIT ?2";
inline constexpr const char* kEndedOfName =
    "SELECT id,tenant,name,state,submitted_us,finished_us,listed FROM ended_jobs INDEXED BY ended_jobs_by_name "
    "WHERE name=?3 AND id<?1 ORDER BY id DESC LIMIT ?2";
inline constexpr const char* kEndedRow =
    "SELECT id,tenant,name,state,submitted_us,finished_us,listed FROM ended_jobs WHERE id=?1";
// The newest below an id of a tenant and a state, and with a name.
inline constexpr const char* kNextOfTenant =
    "SELECT id FROM ended_jobs WHERE tenant=?1 AND state=?2 AND id<?3 ORDER BY id DESC LIMIT 1";
inline constexpr const char* kNextOfTenantAndName =
    "SELECT id FROM ended_jobs WHERE tenant=?1 AND state=?2 AND id<?3 AND name=?4 ORDER BY id DESC LIMIT 1";
// The first tenant after one, up to another; and the first with jobs of a name.
inline constexpr const char* kNextTenant =
    "SELECT tenant FROM ended_jobs WHERE tenant>?1 AND tenant<?2 ORDER BY tenant LIMIT 1";
inline constexpr const char* kNextTenantOfName =
    "SELECT tenant FROM ended_jobs WHERE name=?1 AND tenant>?2 ORDER BY tenant LIMIT 1";

class EndedLists {
 public:
  Status prepare(Database& database);
  Status read(const EndedQuery& query, std::vector<EndedRow>& rows);

 private:
  struct Strand;
  Status read_plain(const EndedQuery& query, std::int64_t below, std::vector<EndedRow>& rows);
  Status find_tenants(const EndedQuery& query, std::vector<std::string>& tenants);
  Status advance(const EndedQuery& query, Strand& strand);
  Status read_strands(const EndedQuery& query, std::vector<Strand> strands, std::vector<EndedRow>& rows);

  Statement all_, of_state_, of_name_, row_, next_, next_of_name_, next_tenant_, next_tenant_of_name_;
};

}  // namespace tidepool::live
