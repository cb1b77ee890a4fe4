#include "schedulerd/live/service/shadow_report.hpp"

#include "core/codec/codec.hpp"

namespace tidepool::live {

using nlohmann::json;

void ShadowReport::add(const policies::host::RoundComparison& round) {
  if (!round.fault.empty()) {
    ++faults[round.fault];
    last_fault = round.message;
    return;
  }
  ++rounds;
  if (!round.differences.empty()) ++rounds_different;
  jobs += round.jobs;
  jobs_different += static_cast<std::int64_t>(round.differences.size());
  slots_live += round.slots_live;
  slots_candidate += round.slots_candidate;
  for (const auto& compared : round.pools) {
    ShadowPool& pool = pools[compared.pool];
    pool.slot_type = compared.slot_type;
    ++pool.rounds;
    if (compared.live != compared.candidate) ++pool.rounds_different;
    pool.nodes_live += compared.live;
    pool.nodes_candidate += compared.candidate;
  }
  for (const auto& difference : round.differences) {
    newest.push_back({round.at, difference});
    if (newest.size() > kDifferencesKept) newest.pop_front();
  }
}

namespace {

json pools_json(const ShadowReport& report) {
  json pools = json::object();
  for (const auto& [name, pool] : report.pools) {
    pools[name] = {{"slot_type", pool.slot_type},
                   {"rounds", pool.rounds},
                   {"rounds_different", pool.rounds_different},
                   {"nodes_live", pool.nodes_live},
                   {"nodes_candidate", pool.nodes_candidate}};
  }
  return pools;
}

ShadowPool pool_from(const json& value) {
  return {.slot_type = value.at("slot_type"),
          .rounds = value.at("rounds"),
          .rounds_different = value.at("rounds_different"),
          .nodes_live = value.at("nodes_live"),
          .nodes_candidate = value.at("nodes_candidate")};
}

}  // namespace

json to_json(const ShadowReport& report) {
  json differences = json::array();
  for (const auto& [at, what] : report.newest) {
    differences.push_back({{"at_us", at.count_us()},
                           {"job", what.job.text()},
                           {"live", what.live},
                           {"candidate", what.candidate},
                           {"reason", core::to_json(what.reason)}});
  }
  return {{"name", report.file.name},
          {"version", report.file.version},
          {"params", report.file.params},
          {"since_us", report.since.count_us()},
          {"rounds", report.rounds},
          {"rounds_different", report.rounds_different},
          {"jobs", report.jobs},
          {"jobs_different", report.jobs_different},
          {"slots_live", report.slots_live},
          {"slots_candidate", report.slots_candidate},
          {"pools", pools_json(report)},
          {"faults", report.faults},
          {"last_fault", report.last_fault},
          {"newest", std::move(differences)}};
}

Result<ShadowReport> shadow_report_from_json(const json& value) {
  ShadowReport report;
  try {
    report.file = {value.at("name"), value.at("version"), value.at("params")};
    report.since = Instant::from_micros(value.at("since_us"));
    report.rounds = value.at("rounds");
    report.rounds_different = value.at("rounds_different");
    report.jobs = value.at("jobs");
    report.jobs_different = value.at("jobs_different");
    report.slots_live = value.at("slots_live");
    report.slots_candidate = value.at("slots_candidate");
    report.faults = value.at("faults").get<std::map<std::string, std::int64_t>>();
    report.last_fault = value.at("last_fault");
    // Reports of before compare no pools.
    const json pools = value.value("pools", json::object());
    for (const auto& [name, pool] : pools.items()) report.pools.emplace(name, pool_from(pool));
    for (const json& entry : value.at("newest")) {
      auto reason = core::reason_from_json(entry.at("reason"));
      const auto job = JobId::parse(entry.at("job").get<std::string>());
      if (!reason || !job) return io_error("the shadow's report is damaged");
      report.newest.push_back({Instant::from_micros(entry.at("at_us")),
                               {*job, entry.at("live"), entry.at("candidate"), *std::move(reason)}});
    }
  } catch (const json::exception& broken) {
    return io_error(std::string("the shadow's report is damaged: ") + broken.what());
  }
  return report;
}

}  // namespace tidepool::live
