import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import { agentKey, countByPlace, isOpening, isStandIn, mayBeToldAnew } from '../gather.ts';
import { newsAmong } from '../routing/settle.ts';
import type { ToldThread } from '../routing/settle.ts';
import { insertThreads, lockTeam, selectListeners, selectToldAfter, updateThreads } from '../routing/store.ts';
import { FLAP_WINDOW_MS, STILL_NEW_MS } from '../timing.ts';
import type { Revision, ThreadRow } from '../types.ts';
import { MOVES } from './flapping.ts';
import { tellGroup } from './group.ts';
import { chainOf, factOf, momentOf } from './moment.ts';
import {
  closeThreads,
  countAgents,
  forgetMembers,
  releaseAsTold,
  selectAgentThreads,
  selectChildren,
  selectDue,
  selectEscalations,
  selectSilenced,
  selectStandIns,
} from './store.ts';

/** Threads of one transaction, of several groups. */
const TOLD_AT_ONCE = 500;
/** Of one group: a storm of more becomes one with an update, and 5,000 take about a second on SQLite. */
const MOST_OF_GROUP = 5000;

/** Stores the messages of revisions, in the transaction that decides them. */
export type WriteMessages = (tx: Tx, teamId: string, revisions: readonly Revision[], now: number) => Promise<void>;

/**
 * Decides what the due threads of a team tell, and stores it with its messages in the same transaction. @returns what was due
 */
export async function tellSome(tx: Tx, teamId: string, write: WriteMessages, now: number): Promise<ThreadRow[]> {
  await lockTeam(tx, teamId);
  const due = await selectDue(tx, teamId, now, { limit: TOLD_AT_ONCE, mostOfGroup: MOST_OF_GROUP });
  if (due.length === 0) return due;
  const listeners = new Map((await selectListeners(tx, teamId)).map((listener) => [listener.id, listener]));
  const byGroup = Map.groupBy(due, ({ group_id: id }) => id);
  const groupIds = [...byGroup.keys()];
  const agentKeys = [
    ...new Set(due.flatMap((thread) => (isOpening(thread) && thread.agent_id !== null ? [agentKey(thread.agent_id)] : []))),
  ];
  const parents = [...(await selectStandIns(tx, teamId, groupIds)), ...(await selectAgentThreads(tx, teamId, groupIds, agentKeys))];
  const anew = due.some(isOpening) ? parents.filter(mayBeToldAnew) : [];
  const counted = new Map([...due.filter(isStandIn), ...anew].map((thread) => [thread.id, thread]));
  const children = await selectChildren(tx, teamId, [...counted.values()], MOVES);
  const told = await selectTold(tx, teamId, due, now);
  const agents = await countAgents(tx, teamId);
  const escalations = await selectEscalations(tx, teamId);
  const silenced = await selectSilenced(tx, teamId, due.map(factOf), now);
  const revisions: Revision[] = [];
  for (const [groupId, threads] of byGroup) {
    const result = tellGroup({
      ...momentOf(listeners.get(groupId), now, chainOf(groupId, escalations, listeners, now)),
      teamId,
      groupId,
      due: threads,
      parents: parents.filter((thread) => thread.group_id === groupId),
      children,
      toldAlone: countByPlace(told.filter((thread) => thread.group_id === groupId)),
      silenced,
      agents,
      newId: () => newId(now),
    });
    await forgetMembers(tx, teamId, result.reopened);
    await closeThreads(tx, teamId, result.replaced, now);
    await insertThreads(tx, result.added);
    await updateThreads(tx, result.changed);
    await releaseAsTold(tx, teamId, result.released, { now, closeAt: now + FLAP_WINDOW_MS });
    revisions.push(...result.revisions);
  }
  await write(tx, teamId, revisions, now);
  return due;
}

/** What the groups of due openings were told lately, of the kinds of these. */
async function selectTold(tx: Tx, teamId: string, due: readonly ThreadRow[], now: number): Promise<ToldThread[]> {
  const openings = due.filter((thread) => isOpening(thread) && thread.router_id !== null);
  if (openings.length === 0) return [];
  const groupIds = [...new Set(openings.map(({ group_id: id }) => id))];
  const kinds = [...new Set(openings.map(({ kind }) => kind))];
  return newsAmong(await selectToldAfter(tx, teamId, { groupIds, kinds }, now - STILL_NEW_MS), now);
}
