#include "core/words/placement_words.hpp"

#include <algorithm>

#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

// "in one rack", "on one node"
std::string in_one(const std::string& key) {
  return (key == "node" ? "on one " : "in one ") + key;
}
std::string each_worker(int workers) {
  return workers == 1 ? "its worker" : "each of its " + counted(workers, "worker");
}
// "a group of 4 slots on one node", "2 groups of 4 slots, each on one node"
std::string groups_needed(int needed, int group, const std::string& key) {
  const int groups = needed / std::max(1, group);
  const std::string of_slots = " of " + counted(group, "slot");
  return groups == 1 ? "a group" + of_slots + " " + in_one(key)
                     : grouped(groups) + " groups" + of_slots + ", each " + in_one(key);
}
std::string groups_in(int room, int group) {
  const int groups = room / std::max(1, group);
  return groups == 0 ? "none" : grouped(groups);
}
// For "rack r1": the label of its domains, and whether a domain is named.
std::string key_of(const std::string& word) {
  return word.substr(0, word.find(' '));
}
bool names_domain(const std::string& word) {
  return word.find(' ') != std::string::npos;
}

std::string text_of_groups(const DomainsTooSmall& why, int group) {
  const std::string lacks = "it needs " + groups_needed(why.needed, group, why.word) + ", and there is room for " +
                            groups_in(why.room, group);
  if (!why.with_pools) return "cannot start: " + lacks;
  const std::string with_pools = groups_in(*why.with_pools, group);
  return *why.with_pools < why.needed
             ? "cannot start: " + lacks + ", and for " + with_pools + " with all nodes that its pools may have"
             : "waits for nodes: " + lacks + "; with all that its pools may have there is room for " + with_pools;
}

}  // namespace

std::string in_domain(const std::string& domain) {
  return (key_of(domain) == "node" ? "on " : "in ") + domain;
}
std::string text_of(const DomainsTooSmall& why) {
  if (why.apart) {
    return "cannot start: " + each_worker(why.needed) + " needs a " + why.word + " of its own, and " +
           grouped(why.room) + (why.room == 1 ? " has room for one" : " have room for one");
  }
  if (why.group) return text_of_groups(why, *why.group);
  const std::string largest = names_domain(why.word) ? why.word : "the largest one";
  return "cannot start: it needs " + counted(why.needed, "slot") + " " + in_one(key_of(why.word)) + ", and " + largest +
         " has " + grouped(why.room);
}
std::string text_of(const WaitingForDomains& why) {
  const std::string alone = why.exclusive ? " on nodes without other jobs" : "";
  const std::string kept = why.room >= why.needed ? ", but kept for other jobs" : "";
  if (why.apart) {
    return "waits until " + each_worker(why.needed) + " finds room in a " + why.word + " of its own" + alone + ": " +
           grouped(why.room) + (why.room == 1 ? " has a free slot" : " have a free slot") + kept;
  }
  if (why.group) {
    return "waits for " + groups_needed(why.needed, *why.group, why.word) + alone + ": there is room for " +
           groups_in(why.room, *why.group) + kept;
  }
  if (why.word.empty()) {
    return "waits for " + counted(why.needed, "slot") + alone + ": such nodes have " + grouped(why.room) + kept;
  }
  const std::string key = key_of(why.word);
  const std::string most = names_domain(why.word) ? why.word : "the one with most";
  return "waits for " + counted(why.needed, "slot") + " " + in_one(key) + alone + ": " +
         (why.room >= why.needed || why.room == 0 ? "" : "no " + key + " has so many free, ") +
         (why.room == 0 ? "no " + key + " has any free" : most + " has " + grouped(why.room)) + kept;
}
std::string text_of(const NoRoomByRules& why) {
  const std::string keeps = "keeps " + counted(why.size, "worker") + ": its target is " + grouped(why.next) + ", and ";
  const std::string alone = why.exclusive ? " on nodes without other jobs" : "";
  if (why.word.empty()) return keeps + "too few slots are free" + alone;
  if (why.group) {
    return keeps + "no " + why.word + " has room for " + grouped(*why.group) + " of them, which are a group" + alone;
  }
  if (why.apart) return keeps + "no other " + why.word + " has a free slot" + alone;
  return keeps + "its " + why.word + " has no room for them" + alone;
}

}  // namespace tidepool::core::reason
