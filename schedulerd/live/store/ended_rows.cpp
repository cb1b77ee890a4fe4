#include "schedulerd/live/store/ended_rows.hpp"

#include <string>

#include "core/codec/codec.hpp"

namespace tidepool::live {

Status EndedRows::prepare(Database& database) {
  auto prepared = database.prepare(
      "INSERT OR REPLACE INTO ended_jobs(id,tenant,name,state,submitted_us,finished_us,job,listed) "
      "VALUES(?1,?2,?3,?4,?5,?6,?7,?8)");
  if (!prepared.ok()) return prepared.error();
  add_ = *std::move(prepared);
  return ok_status();
}

Status EndedRows::add(const core::Job& job, const std::string& listed) {
  return add_.run(job.id.number(), job.spec.tenant, job.spec.name, std::string(core::to_text(job.state())),
                  job.submitted_at.count_us(), job.phase.ended_at().value_or(Instant()).count_us(), core::job_text(job),
                  listed);
}

}  // namespace tidepool::live
