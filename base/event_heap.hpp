// Future events, earliest first. Events of the same instant are returned in the order in which they were added, so a
// run never depends on how a heap breaks ties.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/time.hpp"

namespace tidepool {

template <class Event>
class EventHeap {
 public:
  void push(Instant at, Event event) {
    entries_.push_back(Entry{at, next_sequence_++, std::move(event)});
    std::push_heap(entries_.begin(), entries_.end(), later);
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // Requires: not empty.
  [[nodiscard]] Instant next_at() const {
    TP_CHECK(!entries_.empty(), "only a heap with events has a next one");
    return entries_.front().at;
  }
  [[nodiscard]] const Event& next() const { return entries_.front().event; }
  Event pop() {
    TP_CHECK(!entries_.empty(), "only a heap with events gives one");
    std::pop_heap(entries_.begin(), entries_.end(), later);
    Event event = std::move(entries_.back().event);
    entries_.pop_back();
    return event;
  }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b) { return std::tie(a.at, a.sequence) > std::tie(b.at, b.sequence); }

  std::vector<Entry> entries_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace tidepool
