import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { FIRST_TOPICS } from './first-topics.ts';
import { countTopics, deleteTopic, insertTopic, isUnique, lockTeam, selectTopic, selectTopics, updateTopic } from './store.ts';
import type { SettingChange } from '../types.ts';
import type { NewTopic, Topic, TopicChange } from './types.ts';

/** Far more than there are kinds of events. */
const MAX_TOPICS = 200;

/** The subjects that a team's notification groups follow. */
export class TopicsService {
  readonly changes = new Listeners<SettingChange>();
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  async list(teamId: string, page: Page): Promise<Topic[]> {
    return selectTopics(this.#storage.db, teamId, page);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, topicId: string): Promise<Topic> {
    const topic = await selectTopic(this.#storage.db, teamId, topicId);
    if (!topic) throw notFound('topic');
    return topic;
  }

  /** @throws AppError `conflict` for a name in use, or too many topics */
  async create(teamId: string, given: NewTopic): Promise<Topic> {
    const topic = newTopic(teamId, given, this.#clock.now());
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countTopics(tx, teamId)) >= MAX_TOPICS) throw new AppError('conflict', `a team has at most ${MAX_TOPICS} topics`);
      await insertTopic(tx, topic).catch(nameInUse);
    });
    this.#tell('created', topic);
    return topic;
  }

  /** Those of a new team, so that its first group is useful at once; nothing for a team that has some. */
  async createFirst(teamId: string): Promise<void> {
    const created = await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countTopics(tx, teamId)) > 0) return [];
      // A moment apart, so that lists keep their order.
      const from = this.#clock.now() - FIRST_TOPICS.length;
      const topics = FIRST_TOPICS.map((topic, index) => newTopic(teamId, topic, from + index));
      for (const topic of topics) await insertTopic(tx, topic);
      return topics;
    });
    for (const topic of created) this.#tell('created', topic);
  }

  /** @throws AppError `not_found`, `conflict` for a name in use */
  async change(teamId: string, topicId: string, change: TopicChange): Promise<Topic> {
    const updatedAt = this.#clock.now();
    const topic = await updateTopic(this.#storage.db, { teamId, id: topicId }, { ...change, updatedAt }).catch(nameInUse);
    if (!topic) throw notFound('topic');
    this.#tell('updated', topic);
    return topic;
  }

  /** Also removes the topic from every group. @throws AppError `not_found` */
  async delete(teamId: string, topicId: string): Promise<void> {
    if (!(await deleteTopic(this.#storage.db, teamId, topicId))) throw notFound('topic');
    this.changes.publish({ kind: 'removed', teamId, id: topicId });
  }

  #tell(kind: SettingChange['kind'], { teamId, id, name }: Topic): void {
    this.changes.publish({ kind, teamId, id, name });
  }
}

function newTopic(teamId: string, { name, events }: NewTopic, at: number): Topic {
  return { id: newId(at), teamId, name, events, createdAt: at, updatedAt: at };
}

function nameInUse(error: unknown): never {
  throw isUnique(error) ? new AppError('conflict', 'the team already has a topic with this name', { cause: error }) : error;
}
