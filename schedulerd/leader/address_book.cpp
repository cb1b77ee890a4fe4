#include "schedulerd/leader/address_book.hpp"

#include "api/comm_address.hpp"

namespace tidepool::leader {
namespace {

constexpr std::size_t kWholeRanksMax = 128;  // this many blobs with as many entries each fit into a line

}  // namespace

AddressBook::Outcome AddressBook::put(const Entry& entry) {
  Page& page = pages_[entry.job];
  if (entry.generation < page.generation) return Outcome::kStale;
  if (entry.generation > page.generation) page = Page{entry.generation, {}, entry.size};
  auto [place, is_new] = page.blobs.try_emplace(entry.rank, entry.blob);
  const bool moved = !is_new && place->second != entry.blob;
  if (moved) place->second = entry.blob;
  if (page.blobs.size() < static_cast<std::size_t>(page.size)) return Outcome::kWaiting;
  return is_new || moved ? Outcome::kComplete : Outcome::kUnchanged;
}

std::optional<api::AddressesMessage> AddressBook::told_to(int rank, JobId job, GenerationNumber generation) const {
  const auto found = pages_.find(job);
  if (found == pages_.end() || found->second.generation != generation) return std::nullopt;
  const Page& page = found->second;
  if (page.size == 0 || page.blobs.size() < static_cast<std::size_t>(page.size)) return std::nullopt;
  api::AddressesMessage message{.generation = generation, .blobs = {}};
  message.blobs.reserve(page.blobs.size());
  const bool whole = page.blobs.size() <= kWholeRanksMax;
  for (const auto& [sender, blob] : page.blobs) {
    message.blobs.push_back(whole ? blob : api::address_for_rank(blob, static_cast<std::size_t>(rank)));
  }
  return message;
}

}  // namespace tidepool::leader
