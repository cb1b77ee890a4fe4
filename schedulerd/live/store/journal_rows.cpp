#include "schedulerd/live/store/journal_rows.hpp"

#include "base/overloaded.hpp"

namespace tidepool::live {
namespace {

TokenRecord record_of(const leader::CreateToken& made, const RowTime& time) {
  TokenRecord token{.id = made.id,
                    .name = made.name,
                    .role = made.role,
                    .tenant = made.tenant,
                    .secret_sha256 = made.secret_sha256,
                    .created_at = time.wall.text(time.now)};
  if (made.lifetime) token.expires_unix_s = unix_seconds(time.wall, time.now + *made.lifetime);
  return token;
}

}  // namespace

Status append_row(Journal& journal, const leader::TurnRow& row, const RowTime& time) {
  return std::visit(Overloaded{
                        [&](const leader::FactRow& learnt) -> Status {
                          TP_TRY(journal.append(learnt.fact));
                          return journal.append(learnt.events);
                        },
                        [&](const leader::DecisionRow& decided) -> Status {
                          TP_TRY(journal.append(decided.decision));
                          return journal.append(decided.events);
                        },
                        [&](const leader::EndedJobRow& ended) { return journal.append_ended(*ended.job); },
                        [&](const leader::MetricRow& measured) { return journal.append(measured.job, measured.point); },
                        [&](const leader::WorkerRow& started) { return journal.note_worker(started.worker); },
                        [&](const leader::ReceiptRow& answered) {
                          return journal.append(answered.request, answered.receipt, unix_seconds(time.wall, time.now));
                        },
                        [&](const leader::TokenRow& made) { return journal.append(record_of(made.token, time)); },
                        [&](const leader::TokenRevokedRow& revoked) { return journal.revoke_token(revoked.token_id); },
                        [&](const leader::PolicyVersionRow& stored) {
                          PolicyVersion version = stored.version;
                          version.created_at = time.wall.text(time.now);
                          return journal.append(version);
                        },
                        [&](const leader::PolicyChecksRow& noted) {
                          PolicyChecks checks = noted.checks;
                          checks.at = time.wall.text(time.now);
                          return journal.note_checks(noted.name, noted.version, checks);
                        },
                        [](const leader::ShadowRow&) { return ok_status(); },
                        [&](const leader::NodeTokenRow& kept) { return journal.append(kept.token); },
                        [&](const leader::NodeCredentialRow& kept) { return journal.append(kept.credential); },
                    },
                    row);
}

}  // namespace tidepool::live
