import { KEPT_ATTEMPTS } from '../../server/outbound/notifications/messages/types.ts';
import { BUDGETS } from '../../server/outbound/notifications/messages/writing/budget.ts';
import { LINK } from '../../server/outbound/notifications/telegram/types.ts';
import { KEPT_OUTPUT_BYTES } from '../../server/work/jobs/retention/outputs.ts';
import { MOST_TARGETS_A_DAY } from '../../server/work/campaigns/service.ts';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MAX_BACKUP_BYTES, MAX_MESSAGE_BYTES, MAX_OUTPUT_BYTES, MAX_REPLY_BYTES, MAX_ROUTERS_PER_AGENT } from '../../protocol/index.ts';
import { MAX_NAMES, MAX_STRINGS } from '../../protocol/codec.ts';
import { DEFAULT_BACKUP_RULES } from '../../server/work/backups/types.ts';
import { DIFF_LIMITS } from '../../server/work/backups/diff/diff-threads.ts';
import { MOST_RECORDED_CHARS } from '../../server/work/terminals/limits.ts';
import { checkConfig } from '../../server/config.ts';
import { TEAM_FACTOR } from '../../server/platform/http/team-requests.ts';
import { LIMITS } from '../../server/platform/core/counters.ts';
import { QUOTAS } from '../../server/platform/core/quotas.ts';
import { MAX_PIPELINED } from '../../server/platform/http/pipelining.ts';
import { QUIET_CONNECTIONS } from '../../server/platform/http/quiet-connections.ts';
import { KEPT_ANSWERS, SHORT_ANSWER } from '../../server/platform/idempotency/kept-answers.ts';
import { MAX_DEVICES_PER_ROUTER, MAX_DEVICES_PER_TEAM } from '../../server/fleet/devices/limits.ts';
import { KEPT_PER_TEAM } from '../../server/operations/retention/service.ts';
import { DEFAULT_MAX_PER_TEAM, MAX_ROUTERS_EVER_PER_AGENT } from '../../server/fleet/routers/limits.ts';
import { CHANNEL_DIALS } from '../../server/platform/tunnel/channel-limits.ts';
import { AGENT_BUDGET } from '../../server/platform/tunnel/budget.ts';
import { MAX_TUNNELS_PER_AGENT } from '../../server/platform/tunnel/registry.ts';
import { UNFINISHED_REPLIES } from '../../server/platform/tunnel/reply-memory.ts';
import { STALL_MS } from '../../server/platform/tunnel/requests.ts';

const count = (number: number): string => number.toLocaleString('en-US');
const MB = 1024 * 1024;
const { messages, bytes, work, offences, dials } = AGENT_BUDGET;
const DAY_MS = 24 * 3_600_000;

/** What the document says beside the words of a limit. */
const numbers: [string, string][] = [
  [
    'HTTP connections of one network (an IPv4 address or an IPv6 /64) on which no request is being answered',
    count(QUIET_CONNECTIONS.perNetwork),
  ],
  ['HTTP connections of all networks on which no request is being answered', count(QUIET_CONNECTIONS.total)],
  ['messages of one agent, over all its tunnels', `${count(messages.burst)} at once, ${count(messages.perSecond)} a second`],
  ['bytes of one agent', `${bytes.burst / MB} MB at once, ${bytes.perSecond / MB} MB a second`],
  ['processor time of the server for one agent', `${work.burst / 1000} s at once, ${work.perSecond / 1000} s a second`],
  ['messages of one agent that cannot be read', `${offences.burst} at once, ${offences.perSecond} a second`],
  ['new tunnels of one agent', `${dials.burst} at once, ${dials.perSecond} a second`],
  ['new channels of one agent, for all its forwards', `${count(CHANNEL_DIALS.burst)} at once, ${count(CHANNEL_DIALS.perSecond)} a second`],
  ['open tunnels of one agent', `${MAX_TUNNELS_PER_AGENT}`],
  ['bytes of unfinished replies of one agent', `${UNFINISHED_REPLIES.tunnel / MB} MB`],
  ['bytes of unfinished replies of one team', `${UNFINISHED_REPLIES.team / MB} MB`],
  ['bytes of unfinished replies in the process', `${UNFINISHED_REPLIES.all / MB} MB`],
  ['pause within a reply that has begun', `${STALL_MS / 1000} s`],
  ['names of routers on one tunnel', `${MAX_ROUTERS_PER_AGENT}`],
  ['routers that one agent may ever have brought', count(MAX_ROUTERS_EVER_PER_AGENT)],
  ['routers of one team', count(DEFAULT_MAX_PER_TEAM)],
  ['devices that one router may add', count(MAX_DEVICES_PER_ROUTER)],
  ['devices of one team', count(MAX_DEVICES_PER_TEAM)],
  ['comparisons of backups that wait, of one team', `${DIFF_LIMITS.waitingOfTeam}`],
  ['comparisons of backups that wait, in all', `${DIFF_LIMITS.waiting}`],
  ['one comparison of backups', `${DIFF_LIMITS.deadlineMs / 1000} s and ${DIFF_LIMITS.heapMb} MB`],
  [`bytes of answers kept for \`Idempotency-Key\`, longer than ${count(SHORT_ANSWER)} characters`, `${KEPT_ANSWERS.long / MB} MB`],
  ['bytes of all keys and answers kept', `${KEPT_ANSWERS.all / MB} MB`],
  ['recordings of terminals of one team', `${MOST_RECORDED_CHARS / 1024 ** 3} GB`],
  ['requests of all API keys and people of one team within 60 seconds', count(TEAM_FACTOR * checkConfig({}).rateLimitPerMinute)],
  ['jobs that have not ended, of one team', count(QUOTAS.open_jobs_per_team.most)],
  ['campaigns that have not ended, of one team', count(QUOTAS.campaigns_per_team.most)],
  ['routers in the campaigns that one team makes within 24 hours', count(MOST_TARGETS_A_DAY)],
  ['sites of one team', count(QUOTAS.sites_per_team.most)],
  ['members of one team', count(QUOTAS.members_per_team.most)],
  ['agents of one team that are not revoked', count(QUOTAS.agents_per_team.most)],
  ['enrolment tokens of one team that can be used', count(QUOTAS.enrol_tokens_per_team.most)],
  ['API keys of one team that work', count(QUOTAS.api_keys_per_team.most)],
  ['API keys of one team that work, with those that were rotated', count(QUOTAS.rotated_api_keys_per_team.most)],
  ['clients of one team', count(QUOTAS.clients_per_team.most)],
  ['bytes that jobs of one team have printed', `${KEPT_OUTPUT_BYTES / 1024 ** 3} GB`],
  ['bytes of backups of one team', `${DEFAULT_BACKUP_RULES.keepBytesPerTeam / 1024 ** 3} GB`],
  ['links to the Telegram bot of one person in an hour; one of them waits', `${LINK.perHour}`],
  ['entries of the audit log', count(KEPT_PER_TEAM.audit_log)],
  ['faults that are resolved', count(KEPT_PER_TEAM.faults)],
  ['forwards that are closed', count(KEPT_PER_TEAM.forwards)],
  ['campaigns that have ended', count(KEPT_PER_TEAM.campaigns)],
  ['revocations that are carried out', count(KEPT_PER_TEAM.revocations)],
  ['invitations that are not open', count(KEPT_PER_TEAM.invitations)],
  ['enrolment tokens that cannot be used', count(KEPT_PER_TEAM.enrol_tokens)],
  ['API keys that are revoked or expired', count(KEPT_PER_TEAM.api_keys)],
  ['agents that are revoked and have no router', count(KEPT_PER_TEAM.agents)],
  ['sessions of agents that have ended', count(KEPT_PER_TEAM.agent_sessions)],
  ['states of routers that have ended', count(KEPT_PER_TEAM.router_state_changes)],
  ['facts for notifications that were given to their threads', count(KEPT_PER_TEAM.notices)],
  ['threads of notifications that are closed, with their messages', count(KEPT_PER_TEAM.threads)],
  [
    'messages of notifications that were sent or given up; of a thread that is not closed, the last of each kind stay',
    count(KEPT_PER_TEAM.messages),
  ],
  ['rows of one command', `${MAX_REPLY_BYTES / MB} MB`],
  ['one file of a backup', `${MAX_BACKUP_BYTES / MB} MB`],
  ['backups kept of one router', `${DEFAULT_BACKUP_RULES.keepPerRouter}`],
  ['age of a backup', `${DEFAULT_BACKUP_RULES.keepMs / DAY_MS} days`],
  ['output of one job', `${MAX_OUTPUT_BYTES / 1024} kB`],
  ['requests of one connection that wait for their answers; with more it is cut', `${MAX_PIPELINED}`],
  ['message on the tunnel', `${MAX_MESSAGE_BYTES / MB} MB`],
  ['names and values of one message', count(MAX_STRINGS)],
  ['different names in one message', count(MAX_NAMES)],
  ['attempts of one notification that are kept, the newest', `${KEPT_ATTEMPTS}`],
  ['notifications of one person in an hour by Telegram and browsers; then one says how many more', `${BUDGETS[0].perHour}`],
  ['notifications of one person in an hour by text message and WhatsApp; then one says how many more', `${BUDGETS[1].perHour}`],
];

const page = await readFile(new URL('../../docs/limits.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2).split(' | '));

test.each(numbers)('docs/limits.md states the number in the code for: %s', (what, number) => {
  const row = rows.find((cells) => cells.includes(what));
  expect(row?.[row.indexOf(what) + 1]?.replace(/ \|$/, '')).toBe(number);
});

test('docs/limits.md lists every counted limit and no others', () => {
  const labels = rows.flatMap(([first = '']) => /^`(\w+)`$/.exec(first)?.[1] ?? []);
  expect([...new Set(labels)].toSorted()).toEqual([...LIMITS].toSorted());
});

test('the default of SIGNALBOX_MAX_ROUTERS_PER_TEAM matches the document', () => {
  expect(checkConfig({}).maxRoutersPerTeam).toBe(DEFAULT_MAX_PER_TEAM);
});
