import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx, Storage, Tx } from '../../../platform/storage/db.ts';
import { nextEscalation } from './escalation/chain.ts';
import { replaceEscalation, selectEscalations } from './escalation/store.ts';
import { replaceLinks, selectActiveMembers, selectOwnGroups, selectOwned } from './links/store.ts';
import {
  countGroups,
  deleteGroup,
  hasGroup,
  hastenMuted,
  insertGroup,
  isForeignKey,
  lockTeam,
  selectGroup,
  selectGroups,
  updateGroup,
} from './store.ts';
import { findUnknownReferences } from './unknown-references.ts';
import type { SettingChange } from '../types.ts';
import type { Group, GroupChange, NewGroup, Notifiable } from './types.ts';

/** With a thousand links each, about the size of one list answer. */
const MAX_GROUPS = 200;

/** Notification groups: who is notified about what. */
export class GroupsService {
  readonly changes = new Listeners<SettingChange>();
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  async list(teamId: string, page: Page): Promise<Group[]> {
    return selectGroups(this.#storage.db, teamId, page);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, groupId: string): Promise<Group> {
    return found(await selectGroup(this.#storage.db, teamId, groupId));
  }

  /** @throws AppError `invalid` for a reference to a record that is not the team's or an unfit escalation, `conflict` for too many groups */
  async create(teamId: string, wanted: NewGroup): Promise<Group> {
    const now = this.#clock.now();
    const links = withoutRepetition(wanted);
    return this.#write('created', async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countGroups(tx, teamId)) >= MAX_GROUPS) throw new AppError('conflict', `a team has at most ${MAX_GROUPS} groups`);
      await refuseStrangers(tx, teamId, links);
      const { name, scheduleId = null, mute = 'never' } = wanted;
      const group = { id: newId(now), teamId, name, scheduleId, mute, createdAt: now, updatedAt: now };
      await insertGroup(tx, group);
      await replaceLinks(tx, group, links);
      await this.#escalate(tx, group, links);
      return found(await selectGroup(tx, teamId, group.id));
    });
  }

  /** Replaces the given fields. @throws AppError `not_found`, `invalid` for a reference to a record that is not the team's */
  async change(teamId: string, groupId: string, wanted: GroupChange): Promise<Group> {
    const key = { teamId, id: groupId };
    const change = { ...withoutRepetition(wanted), updatedAt: this.#clock.now() };
    return this.#write('updated', async (tx) => {
      // Two changes of escalations could make a loop together.
      if (change.escalateTo !== undefined || change.escalateAfterMinutes !== undefined) await lockTeam(tx, teamId);
      // Checked first, so that the answer reveals nothing about another team's group.
      if (!(await hasGroup(tx, teamId, groupId))) throw notFound('group');
      await refuseStrangers(tx, teamId, change);
      // Also locks the group against concurrent changes.
      if (!(await updateGroup(tx, key, change))) throw notFound('group');
      await replaceLinks(tx, key, change);
      await this.#escalate(tx, key, change);
      if (change.mute !== undefined || change.scheduleId !== undefined) await hastenMuted(tx, teamId, groupId, change.updatedAt);
      return found(await selectGroup(tx, teamId, groupId));
    });
  }

  /** Its log stays, and the ends of what it has told are still told. @throws AppError `not_found` */
  async delete(teamId: string, groupId: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      // Threads that are just being routed or told belong to one of the groups.
      await lockTeam(tx, teamId);
      if (!(await deleteGroup(tx, { teamId, id: groupId }, this.#clock.now()))) throw notFound('group');
    });
    this.changes.publish({ kind: 'removed', teamId, id: groupId });
  }

  async #escalate(tx: Tx, { teamId, id }: { teamId: string; id: string }, change: GroupChange): Promise<void> {
    if (change.escalateTo === undefined && change.escalateAfterMinutes === undefined) return;
    const next = nextEscalation(id, change, await selectEscalations(tx, teamId));
    await replaceEscalation(tx, { teamId, id }, next);
  }

  async #write(kind: SettingChange['kind'], work: (tx: Tx) => Promise<Group>): Promise<Group> {
    const group = await this.#storage.writes.write(work).catch((error: unknown) => {
      if (!isForeignKey(error)) throw error;
      throw new AppError('conflict', 'a record that the group references has just been deleted', { cause: error });
    });
    this.changes.publish({ kind, teamId: group.teamId, id: group.id, name: group.name });
    return group;
  }
}

function found(group: Group | undefined): Group {
  if (!group) throw notFound('group');
  return group;
}

/** Lists are sets: duplicates are dropped. */
function withoutRepetition<T extends GroupChange>(change: T): T {
  const { recipients, notifiables, topics, sites, targets } = change;
  return {
    ...change,
    ...(recipients && { recipients: [...new Set(recipients)] }),
    ...(notifiables && { notifiables: distinct(notifiables) }),
    ...(topics && { topics: [...new Set(topics)] }),
    ...(sites && { sites: [...new Set(sites)] }),
    ...(targets && { targets: [...new Set(targets)] }),
  };
}

function distinct(notifiables: Notifiable[]): Notifiable[] {
  return [...new Map(notifiables.map((notifiable) => [`${notifiable.id} ${notifiable.channel}`, notifiable])).values()];
}

async function refuseStrangers(db: DbOrTx, teamId: string, change: GroupChange): Promise<void> {
  const people = [...(change.recipients ?? []), ...(change.notifiables ?? []).map(({ id }) => id)];
  const errors = findUnknownReferences(change, {
    members: await selectActiveMembers(db, teamId, people),
    topics: await selectOwned(db, 'topics', teamId, change.topics ?? []),
    sites: await selectOwned(db, 'sites', teamId, change.sites ?? []),
    schedules: await selectOwned(db, 'schedules', teamId, change.scheduleId ? [change.scheduleId] : []),
    targets: await selectOwned(db, 'notification_targets', teamId, change.targets ?? []),
    groups: await selectOwnGroups(db, teamId, change.escalateTo ? [change.escalateTo] : []),
  });
  const [first] = Object.entries(errors);
  if (first) throw new AppError('invalid', `${first[0]}: ${first[1][0]}`, { errors });
}
