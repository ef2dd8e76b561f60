import type { Clock } from '../../platform/core/clock.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Page } from '../../platform/core/page.ts';
import { hasRole } from '../../platform/core/principal.ts';
import type { Principal } from '../../platform/core/principal.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { countViews, deleteView, insertView, isUnique, lockTeam, selectView, selectViews, updateView } from './store.ts';
import type { Viewer } from './store.ts';
import type { NewView, SavedView, ViewChange, ViewedList } from './types.ts';

/** A menu of them stays readable. */
export const MOST_VIEWS = { ofPerson: 100, ofTeam: 200 };

/** Filters of lists that people save, for themselves or for their team. */
export class ViewsService {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** The team's views and the caller's own, newest first. */
  async list(caller: Principal, list: ViewedList | undefined, page: Page): Promise<SavedView[]> {
    return selectViews(this.#storage.db, viewerOf(caller), list, page);
  }

  /** @throws AppError `not_found`, also for a view of somebody else */
  async get(caller: Principal, viewId: string): Promise<SavedView> {
    const view = await selectView(this.#storage.db, viewerOf(caller), viewId);
    if (!view) throw notFound('view');
    return view;
  }

  /** @throws AppError `forbidden`; `conflict` for a name in use; `quota_exceeded` for too many views */
  async create(caller: Principal, { list, name, query, isShared }: NewView): Promise<SavedView> {
    const userId = isShared ? null : personOf(caller);
    checkWriter(caller, userId);
    const now = this.#clock.now();
    const { teamId } = caller;
    const view = { id: newId(now), teamId, userId, list, name, query, createdAt: now, updatedAt: now };
    const most = isShared ? MOST_VIEWS.ofTeam : MOST_VIEWS.ofPerson;
    return this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countViews(tx, teamId, userId)) >= most)
        throw new AppError('quota_exceeded', `${isShared ? 'a team' : 'a person'} has at most ${most} views: remove some first`);
      await insertView(tx, view).catch(nameInUse);
      return view;
    });
  }

  /** @throws AppError `not_found`, `forbidden`, `conflict` for a name in use */
  async change(caller: Principal, viewId: string, change: ViewChange): Promise<SavedView> {
    const view = await this.get(caller, viewId);
    checkWriter(caller, view.userId);
    const changed = await updateView(this.#storage.db, view, change, this.#clock.now()).catch(nameInUse);
    if (!changed) throw notFound('view');
    return changed;
  }

  /** @throws AppError `not_found`, `forbidden` */
  async delete(caller: Principal, viewId: string): Promise<void> {
    const view = await this.get(caller, viewId);
    checkWriter(caller, view.userId);
    await deleteView(this.#storage.db, view);
  }
}

function viewerOf({ kind, id, teamId }: Principal): Viewer {
  return { teamId, userId: kind === 'user' ? id : null };
}

function personOf({ kind, id }: Principal): string {
  if (kind !== 'user') throw new AppError('forbidden', 'an API key has no views of its own: make one of the team, with shared true');
  return id;
}

/** Everybody of the team sees a view of the team; its operators make and change it. */
function checkWriter(caller: Principal, ownerId: string | null): void {
  if (ownerId === null && !hasRole(caller, 'operator')) throw new AppError('forbidden', "the team's views need the role operator");
}

function nameInUse(error: unknown): never {
  throw isUnique(error) ? new AppError('conflict', 'there is already a view with this name', { cause: error }) : error;
}
