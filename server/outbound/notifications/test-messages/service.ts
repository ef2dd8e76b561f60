import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { MAX_PAGE } from '../../../platform/core/page.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { GroupsService } from '../groups/service.ts';
import type { DeliveryLog, Viewer } from '../log/service.ts';
import type { LoggedMessage } from '../log/types.ts';
import type { MessagesService } from '../messages/service.ts';
import { TEST_KIND, newThread } from '../threads/new-thread.ts';
import type { ItemRow, ThreadRow } from '../threads/types.ts';
import { insertThreads, isPending, lockTeam, selectActorName, selectLastTest, upsertItems } from './store.ts';

/** The answer, and the end of the attempts. A test of the same group begins after it. */
const ANSWER_WITHIN_MS = 9500;
/** Mail servers on the same network answer within some 100 ms. */
const LOOK_EVERY_MS = 150;

export interface TestMessagesDeps {
  storage: Storage;
  clock: Clock;
  groups: Pick<GroupsService, 'get'>;
  messages: Pick<MessagesService, 'write' | 'wake' | 'changes'>;
  log: Pick<DeliveryLog, 'messagesOf'>;
}

export interface TestedGroup {
  threadId: string;
  /** One for each line of the group. */
  messages: LoggedMessage[];
}

/** Tests of groups: by the path of every other message, whatever mutes the group. */
export class TestMessages {
  readonly #deps: TestMessagesDeps;

  constructor(deps: TestMessagesDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a test to everybody in a group, and waits until it is clear who got it, at most 10 s.
   * @throws AppError `not_found`; `rate_limited` while another test of the group may be running
   */
  async run(by: Viewer, groupId: string): Promise<TestedGroup> {
    const { storage, clock, groups, messages, log } = this.#deps;
    const { teamId } = by;
    const group = await groups.get(teamId, groupId);
    const now = clock.now();
    const said = { by: await selectActorName(storage.db, teamId, by), group: group.name };
    const thread = testThread(teamId, groupId, now);
    await storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      const last = await selectLastTest(tx, teamId, groupId, now - ANSWER_WITHIN_MS);
      if (last !== null)
        throw new AppError('rate_limited', 'this group was tested a moment ago', {
          retryAfterMs: Math.max(1, last + ANSWER_WITHIN_MS - now),
        });
      await insertThreads(tx, [thread]);
      await upsertItems(tx, [itemOf(thread, said)]);
      await messages.write(tx, teamId, [{ thread, kind: TEST_KIND, withheld: null }], now);
    });
    messages.changes.publish({ teamId });
    messages.wake();
    releaseAdmissionSlot();
    await this.#settled(thread);
    return { threadId: thread.id, messages: await log.messagesOf(by, thread.id, { limit: MAX_PAGE, before: undefined }) };
  }

  async #settled(thread: ThreadRow): Promise<void> {
    const { storage, clock } = this.#deps;
    const end = clock.monotonic() + ANSWER_WITHIN_MS;
    while ((await isPending(storage.db, thread)) && clock.monotonic() < end) {
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.setTimeout(resolve, LOOK_EVERY_MS);
      await promise;
    }
  }
}

/** Told once, and closed at once: nothing follows it. */
function testThread(teamId: string, groupId: string, now: number): ThreadRow {
  const thread = newThread({ id: newId(now), teamId, groupId, key: `${TEST_KIND}:${groupId}`, kind: TEST_KIND, now });
  return { ...thread, state: 'ended', item_count: 1, revision: 1, told_at: now, closed_at: now };
}

/** What the message says of itself. */
function itemOf({ id, team_id: teamId, severity, first_at: at }: ThreadRow, said: { by: string; group: string }): ItemRow {
  const times = { opened_at: at, resolved_at: at };
  const place = { router_id: null, agent_id: null };
  return {
    thread_id: id,
    record_id: id,
    team_id: teamId,
    kind: TEST_KIND,
    severity,
    ...place,
    version: 1,
    ...times,
    data: JSON.stringify(said),
  };
}
