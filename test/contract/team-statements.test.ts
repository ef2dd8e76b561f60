import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * Every statement on a table with teams names the team, or stands here with the reason why it need not. Whoever adds a statement decides
 * which of the two it is.
 */
const WITHOUT_TEAM: Record<string, Record<string, string[]>> = {
  'for all teams, by time: sweeps, and what is due': {
    'server/access/revocations/store.ts': ['selectOpen', 'deleteRevocations'],
    'server/access/teams/invitations/store.ts': ['deleteOldInvitations'],
    'server/access/teams/password-links/store.ts': ['deleteExpiredPasswordLinks'],
    'server/fleet/devices/store.ts': ['deleteForgotten'],
    'server/fleet/routers/moves/store.ts': ['selectOpenMoves'],
    'server/fleet/sessions/store.ts': ['deleteSessions'],
    'server/fleet/states/store.ts': ['deleteStates'],
    'server/outbound/notifications/messages/sending/store.ts': ['selectNextMessage', 'selectOldestDue'],
    'server/outbound/notifications/proofs/store.ts': ['deleteProofsBefore'],
    'server/outbound/notifications/telegram/store.ts': ['deleteLinksBefore'],
    'server/outbound/notifications/silences/store.ts': ['deleteSilencesBefore'],
    'server/outbound/notifications/messages/digests/store.ts': ['selectNextDigest'],
    'server/outbound/notifications/threads/telling/store.ts': ['selectNextDue', 'silencedAhead', 'hasLongSilenced'],
    'server/outbound/notifications/retention/store.ts': ['selectThreadsBefore', 'selectThreadsOfDeleted', 'removeDeletedGroups'],
    'server/outbound/webhooks/store.ts': ['selectNextDue', 'deleteSettledBefore'],
    'server/platform/notices/store.ts': ['deleteNoticesBefore'],
    'server/platform/storage/move-plans.ts': ['movePlans', 'moveNotifications', 'capPlans'],
    'server/work/backups/changes/store.ts': ['selectUncompared'],
    'server/work/backups/schedules/store.ts': ['selectEnabled', 'selectBeyondKept'],
    'server/work/backups/store.ts': ['selectAged', 'selectRouterIds', 'selectSurplus', 'deleteBackups', 'jobsOf'],
    'server/work/forwards/connections/store.ts': ['deleteConnectionsUntil'],
    'server/work/jobs/hand-over/store.ts': ['giveUp', 'giveUpOverdue', 'expireJobs'],
    'server/work/jobs/outbox/store.ts': ['insertMissedEvents'],
    'server/work/jobs/retention/store.ts': [
      'selectJobsBefore',
      'forgetOutputs',
      'deleteEndedJobs',
      'selectForgettable',
      'unsentEvent',
      'openCampaign',
    ],
    'server/work/terminals/recording/store.ts': ['selectOldRecordings', 'markDeleted'],
  },
  'for all teams, once at the start': {
    'server/fleet/faults/store.ts': ['selectOpenFaults'],
    'server/fleet/routers/store.ts': ['selectEveryRouter', 'selectWithoutVersionKey', 'updateVersionKey'],
    'server/fleet/sessions/store.ts': ['closeOpenSessions'],
    'server/fleet/states/store.ts': ['selectOpenStates'],
    'server/outbound/events/store.ts': ['takeKept'],
    'server/platform/idempotency/store.ts': ['markInterrupted'],
    'server/work/forwards/store.ts': ['selectOpenForwards'],
    'server/work/terminals/store.ts': ['selectAllOpen'],
  },
  'for the operator of the control plane, on the command line': {
    'server/platform/storage/inspect.ts': ['newestMomentOf'],
    'server/platform/storage/stored-secrets.ts': ['keysInUse', 'forgetSecrets'],
  },
  'whose secret or sign-in says which team it is': {
    'server/access/credentials/store.ts': ['claimEnrolToken', 'selectEnrolTokenBySecret'],
    'server/access/identity/clients/store.ts': ['selectClientAnywhere'],
    'server/fleet/routers/moves/store.ts': ['selectClaimers'],
    'server/fleet/routers/store.ts': ['selectRoutersOfAgents'],
  },
  'for requests of many teams: each gets only what its own team has': {
    'server/access/credentials/store.ts': ['selectApiKeysByIds'],
    'server/fleet/routers/store.ts': ['selectRoutersByIds'],
  },
  'of a person, who may be a member of several teams': {
    'server/access/teams/password-links/store.ts': ['deletePasswordLink'],
    'server/outbound/notifications/contacts/store.ts': ['moveDigest'],
    'server/outbound/notifications/telegram/store.ts': ['endLinks', 'selectMade'],
  },
  'of ids that the statement before found by the team, or among what is due': {
    'server/fleet/agents/store.ts': ['selectHolder'],
    'server/fleet/health/store.ts': ['selectRouterIds'],
    'server/fleet/links/store.ts': ['selectAgentIds'],
    'server/fleet/removals/store.ts': ['purgeSome'],
    'server/fleet/sites/store.ts': ['moveSightings'],
    'server/outbound/notifications/messages/sending/store.ts': ['claimMessages', 'hastenWaiting', 'holdFree', 'postpone'],
    'server/outbound/webhooks/store.ts': ['claimEvents'],
    'server/work/backups/store.ts': ['claimDue', 'hasten'],
    'server/work/forwards/connections/store.ts': ['deleteConnectionsBeyond'],
    'server/work/jobs/dispatch/store.ts': ['selectWaitingRouters', 'selectNext'],
  },
  'for limits that count what all teams do, and those of one team': { 'server/outbound/notifications/proofs/store.ts': ['selectSendings'] },
  'of a campaign that the pass has from the list of open ones, and whose row it holds': {
    'server/work/campaigns/run/store.ts': [
      'holdCampaign',
      'recordResults',
      'recordWithoutJob',
      'claimTargets',
      'setClaimed',
      'selectClaimed',
      'releaseClaims',
      'selectJobsToCancel',
      'stopCampaign',
      'finishCampaign',
      'correctCounts',
    ],
  },
  'of all teams: what one of several control planes follows or does by right of its tunnels': {
    'server/fleet/agents/holders/store.ts': ['selectNotHeldElsewhere', 'selectRoutersNotHeldElsewhere'],
    'server/fleet/faults/store.ts': ['selectOpenFaultsOf'],
    'server/fleet/removals/store.ts': ['selectPlaces', 'selectRecords'],
    'server/work/forwards/cluster/store.ts': ['openForwards', 'selectTunnelEpoch'],
    'server/work/jobs/dispatch/store.ts': ['selectAgentsWithExpressJobs'],
    'server/work/terminals/cluster/store.ts': ['selectOpenAt'],
  },
  'of what a provider says of its own messages, whose signature has been checked: it knows no teams': {
    'server/outbound/notifications/messages/receipts/store.ts': ['selectByRef'],
  },
  'of a terminal whose one-use ticket or whose agent has been checked': { 'server/work/terminals/cluster/store.ts': ['selectOpenOne'] },
  'inside a statement that names it': {
    'server/fleet/sessions/store.ts': ['selectOpenLines'],
    'server/fleet/removals/store.ts': ['deleteRemainingRecords'],
    'server/outbound/notifications/messages/sending/store.ts': ['hasEarlier'],
    'server/outbound/webhooks/store.ts': ['hasEarlierPending', 'insertAttempt'],
  },
};

const ROOT = path.resolve(import.meta.dirname, '../..');
const STATEMENT = /\.(?:selectFrom|updateTable|deleteFrom)\(\s*'(\w+)(?: as \w+)?'/g;
const END_OF_STATEMENT = /\.(?:execute|executeTakeFirst|executeTakeFirstOrThrow)\(|\n\}\n/;
/** How a statement names the team, directly or by what these helpers do. */
const NAMES_TEAM = /team_id|teamId|ofTeam|madeWithKey|whereKey|whereHeld|isOf\(|isFaultOf\(|\(here\)/;
/** The same around a statement. */
const WRAPPED = /where(?:Key|Held)\([\w.]+$/;
const FUNCTION = /(?:async |function |async \*?)#?(\w+)(?:<[^>(]*>)?\(/g;

function tablesWithTeam(): Set<string> {
  const folder = path.join(ROOT, 'server/platform/storage');
  const text = readdirSync(folder)
    .filter((file) => /^schema.*\.ts$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
  const bodies = new Map([...text.matchAll(/export interface (\w+)[^{]*\{([^}]*)\n\}/g)].map(([, name, body]) => [name!, body!]));
  const tables = [...text.matchAll(/^ {2}(\w+): (\w+Table);/gm)];
  return new Set(tables.filter(([, , row]) => bodies.get(row!)?.includes('team_id')).map(([, table]) => table!));
}

/** `file function` of each statement that names no team. */
function statementsWithoutTeam(): Set<string> {
  const tables = tablesWithTeam();
  const files = readdirSync(path.join(ROOT, 'server'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('migrations'))
    .map((file) => `server/${file.split(path.sep).join('/')}`);
  const found = new Set<string>();
  for (const file of files) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const match of text.matchAll(STATEMENT)) {
      if (!tables.has(match[1]!)) continue;
      const rest = text.slice(match.index);
      const end = END_OF_STATEMENT.exec(rest);
      const statement = rest.slice(0, end ? end.index + end[0].length : undefined);
      if (NAMES_TEAM.test(statement) || WRAPPED.test(text.slice(0, match.index))) continue;
      const name = [...text.slice(0, match.index).matchAll(FUNCTION)].at(-1)?.[1] ?? '';
      found.add(`${file} ${name}`);
    }
  }
  return found;
}

test('there are tables with teams, and statements on them', () => {
  expect(tablesWithTeam().size).toBeGreaterThan(40);
  expect(statementsWithoutTeam().size).toBeGreaterThan(50);
});

test('every statement on a record of a team names the team, unless it stands in the list above with its reason', () => {
  const listed = Object.values(WITHOUT_TEAM).flatMap((files) =>
    Object.entries(files).flatMap(([file, names]) => names.map((name) => `${file} ${name}`)),
  );
  const found = statementsWithoutTeam();
  expect([...found].filter((one) => !listed.includes(one))).toEqual([]);
  expect(
    listed.filter((one) => !found.has(one)),
    'listed for nothing',
  ).toEqual([]);
});
