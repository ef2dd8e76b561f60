import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_OPEN_JOBS_PER_AGENT, MAX_OPEN_REQUESTS } from '../../../protocol/index.ts';
import { MAX_WAITING as AUDIT_ENTRIES } from '../../../server/access/audit/service.ts';
import { DEFAULT_BACKUP_RULES } from '../../../server/work/backups/types.ts';
import { ROUNDS_AT_ONCE } from '../../../server/work/campaigns/run/runner.ts';
import { QUOTAS } from '../../../server/platform/core/quotas.ts';
import { checkConfig } from '../../../server/config.ts';
import { TEAM_FACTOR } from '../../../server/platform/http/team-requests.ts';
import { EVENT_RULES } from '../../../server/outbound/events/service.ts';
import { MAX_WAITING as FINISHED_CONNECTIONS } from '../../../server/work/forwards/connections/log.ts';
import { PASSWORDS_WAITING } from '../../../server/access/teams/password-turns.ts';
import { DEFAULT_SENDER_RULES } from '../../../server/outbound/notifications/messages/types.ts';
import { WAITING_CHANGES } from '../../../server/fleet/faults/waiting-changes.ts';
import { FORWARD_LIMITS } from '../../../server/work/forwards/limits.ts';
import { OPEN_TERMINALS } from '../../../server/work/terminals/limits.ts';
import { PORTS_PER_TEAM } from '../../../server/work/forwards/entry/ports.ts';
import { UNANSWERED_OFFERS } from '../../../server/work/jobs/dispatch/dispatcher.ts';
import { OPEN_CHANNELS } from '../../../server/platform/tunnel/channel-limits.ts';
import { CHECKED_DIALS } from '../../../server/platform/tunnel/endpoint.ts';
import { DIALS_WAITING, OPENINGS } from '../../../server/platform/tunnel/openings.ts';
import { DEFAULT_WEBHOOK_RULES } from '../../../server/outbound/webhooks/types.ts';

/** docs/shared-resources.md says what the code does. */

const top = path.join(import.meta.dirname, '../../..');
const lines = readFileSync(path.join(top, 'docs/shared-resources.md'), 'utf8').split('\n');
const rows = lines
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** The row that begins with a name. */
function rowOf(name: string): string[] {
  const row = rows.find(([first]) => first === name);
  if (!row) throw new Error(`docs/shared-resources.md has no row ${name}`);
  return row;
}

const SHARED = {
  job_offers: UNANSWERED_OFFERS,
  backup_fetches: DEFAULT_BACKUP_RULES.fetchAtOnce,
  webhook_attempts: DEFAULT_WEBHOOK_RULES.atOnce,
  notification_attempts: DEFAULT_SENDER_RULES.atOnce,
  campaign_rounds: ROUNDS_AT_ONCE,
  event_streams: EVENT_RULES.streams,
  forward_ports: { total: 'the range', perParty: PORTS_PER_TEAM, perMember: FORWARD_LIMITS.openPerRouter },
  dial_checks: CHECKED_DIALS,
  tunnel_openings: OPENINGS,
  open_channels: OPEN_CHANNELS,
  open_terminals: OPEN_TERMINALS,
  fault_changes: WAITING_CHANGES,
  passwords: PASSWORDS_WAITING,
};

describe('the list of what teams share', () => {
  it.each(Object.entries(SHARED))('has the limits of %s', (name, { total, perParty, perMember }) => {
    expect(rowOf(`\`${name}\``).slice(2, 5)).toEqual([String(total), String(perParty), String(perMember)]);
  });

  it('names no other shares', () => {
    const named = rows.map(([first]) => /^`(\w+)`$/.exec(first!)?.[1]).filter((name) => name !== undefined);
    expect(named).toEqual(Object.keys(SHARED));
  });

  it.each([
    ['clients that have not said where they want to go', 1, FORWARD_LIMITS.pendingConnections],
    ['dials that wait for their opening', 1, DIALS_WAITING],
    ['finished connections that are not stored yet', 1, FINISHED_CONNECTIONS],
    ['audit entries that are not stored yet', 1, AUDIT_ENTRIES],
    ['open forwards', 1, FORWARD_LIMITS.openPerTeam],
    ['open forwards', 2, FORWARD_LIMITS.openPerRouter],
    ['connections through one forward', 2, FORWARD_LIMITS.connections],
    ['requests within 60 seconds, shared out among the keys and people of the team', 1, TEAM_FACTOR * checkConfig({}).rateLimitPerMinute],
    ['campaigns that have not ended', 1, QUOTAS.campaigns_per_team.most],
    ['requests under way on a tunnel, at both ends', 1, MAX_OPEN_REQUESTS],
    ['jobs in the journal', 1, MAX_OPEN_JOBS_PER_AGENT],
  ])('has the number of %s (column %i)', (name, column, limit) => {
    expect(rowOf(name)[column]).toBe(String(limit));
  });

  it('names files that exist', () => {
    const files = rows.flatMap((row) => [...row.at(-1)!.matchAll(/`([a-z-]+\/[^`]+\.ts)`/g)].map(([, file]) => file!));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) expect(() => readFileSync(path.join(top, file))).not.toThrow();
  });
});
