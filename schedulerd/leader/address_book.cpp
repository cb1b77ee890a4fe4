#include "schedulerd/leader/address_book.hpp"

namespace tidepool::leader {

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

std::optional<api::AddressesMessage> AddressBook::addresses(JobId job, GenerationNumber generation) const {
  const auto found = pages_.find(job);
  if (found == pages_.end() || found->second.generation != generation) return std::nullopt;
  const Page& page = found->second;
  if (page.size == 0 || page.blobs.size() < static_cast<std::size_t>(page.size)) return std::nullopt;
  api::AddressesMessage message{.generation = generation, .blobs = {}};
  for (const auto& [rank, blob] : page.blobs) message.blobs.push_back(blob);
  return message;
}

}  // namespace tidepool::leader
