// What Prometheus scrapes: gauges from the published picture at the moment of the scrape, counters and
// histograms from events and from the loop's timings. Labels are bounded: never an id or a name, but for tenants of
// the tree that an operator has set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/decide/stage_times.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/setup/state_dir.hpp"

namespace tidepool::live::http {

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The daemon starts now, with this state: whose first step is still to come has waited since it was submitted. To be
  // called before the first events.
  void begin(std::int64_t unix_now, const core::ClusterState& state);

  // Thread-safe; the loop calls them.
  void observe_round(Duration took);   // one pass: facts, decide, accept
  void observe_commit(Duration took);  // one commit of the journal
  // Of a pass; a stage that it did not go through does not count.
  void observe_stages(const core::StageTimes& took);
  // That a turn has learnt of; events tell only some of them.
  void count_checkpoint_failures(std::size_t failures);

  // Thread-safe.
  void observe_events(const std::vector<core::Event>& events);
  void observe_request(int status, Duration took);
  void set_streams(std::size_t open);
  void count_reset();
  void count_turned_away();
  void set_state_room(const StateRoom& room);
  // In Unix time, by whose certificate it is.
  void set_certificate_ends(const std::map<std::string, std::int64_t>& ends);

  // The text exposition format; sets the gauges first. `shared`: the tree of tenants decides who has the slots.
  // `forecasts`: the newest; null = none has been made.
  [[nodiscard]] std::string text(const Published& seen, bool shared, const ForecastPicture* forecasts);

 private:
  struct Series;
  std::unique_ptr<Series> series_;
};

}  // namespace tidepool::live::http
