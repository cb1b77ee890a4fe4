#include "schedulerd/live/journal_reads.hpp"

#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/store/policy_rows.hpp"
#include "schedulerd/live/store/token_rows.hpp"

namespace tidepool::live {
namespace {

// Of what was found by a key; an empty key would be all, and names nothing.
template <class T>
Result<std::optional<T>> one_of(Result<std::vector<T>> found, const std::string& key) {
  if (!found.ok()) return found.error();
  return found->empty() || key.empty() ? std::optional<T>() : std::optional<T>(std::move(found->front()));
}

}  // namespace

Result<std::unique_ptr<JournalReads>> JournalReads::open(const std::string& path, const std::string& vfs) {
  auto database = Database::open(path, {.read_only = true, .vfs = vfs});
  if (!database.ok()) return database.error();
  database->no_checkpoint_on_close();
  std::unique_ptr<JournalReads> reads(new JournalReads(*std::move(database)));
  TP_TRY(reads->prepare());
  return reads;
}

Status JournalReads::prepare() {
  const std::pair<Statement*, const char*> texts[] = {
      {&find_receipt_, "SELECT request_hash,job,created_token FROM idempotency WHERE token=?1 AND key=?2"},
      {&find_ended_, "SELECT state,finished_us FROM ended_jobs WHERE id=?1"},
      {&find_tokens_, "SELECT id,name,role,tenant,secret_sha256,created_at,expires_unix_s,revoked FROM tokens"},
      {&find_policy_,
       "SELECT name,version,created_at,created_by,manifest,source,tests,checks FROM policy_versions "
       "WHERE name=?1 AND version=?2"},
  };
  TP_TRY(database_.prepare_all(texts));
  return node_trust_.prepare(database_);
}

Result<std::optional<leader::StoredReceipt>> JournalReads::receipt_for(const Idempotency& request) {
  std::optional<leader::StoredReceipt> found;
  TP_TRY(find_receipt_.each(
      [&](const Row& row) {
        found = leader::StoredReceipt{.request_hash = row.text(0), .job = {}, .token_id = row.text(2)};
        if (const auto job = row.maybe_integer(1)) found->job = JobId(static_cast<std::uint64_t>(*job));
      },
      request.token_id, request.key));
  return found;
}

Result<std::optional<leader::EndedNote>> JournalReads::ended(JobId job) {
  std::optional<leader::EndedNote> found;
  TP_TRY(find_ended_.each(
      [&](const Row& row) { found = leader::EndedNote{row.text(0), Instant::from_micros(row.integer(1))}; },
      job.number()));
  return found;
}

Result<std::vector<TokenRecord>> JournalReads::tokens() {
  std::vector<TokenRecord> found;
  TP_TRY(find_tokens_.each([&](const Row& row) { found.push_back(token_at(row)); }));
  return found;
}

Result<std::optional<leader::NodeToken>> JournalReads::node_token(const std::string& id) {
  return one_of(node_trust_.tokens(id), id);
}

Result<std::optional<leader::NodeCredential>> JournalReads::node_credential(const std::string& node) {
  return one_of(node_trust_.credentials(node), node);
}

Result<std::optional<PolicyVersion>> JournalReads::policy_version(const std::string& name, const std::string& version) {
  std::optional<PolicyVersion> found;
  TP_TRY(find_policy_.each([&](const Row& row) { found = policy_at(row); }, name, version));
  return found;
}

Status JournalReads::can_run(const PolicyVersion& version, const std::string& params) {
  const auto given = parse_json(params);
  if (!given) return given.error();
  const auto made = make_runnable(version, *given);
  return made.ok() ? ok_status() : Status(made.error());
}

}  // namespace tidepool::live
