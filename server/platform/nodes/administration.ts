import { AppError } from '../core/errors.ts';
import type { Storage } from '../storage/db.ts';
import { lockNodes, selectNodes, setNodeState } from './store.ts';
import type { NodeRecord } from './store.ts';

/**
 * Has a control plane give its work to the others, or take work again. It obeys with its next beat, within about two seconds.
 * @throws AppError `not_found`; `conflict` for one that serves the database alone, and for the last one that takes work
 */
export async function setDraining(storage: Storage, id: string, isDraining: boolean): Promise<NodeRecord> {
  return storage.writes.write(async (tx) => {
    // Of two at the same time, each might leave the other one as the last.
    await lockNodes(tx, storage);
    const nodes = await selectNodes(tx);
    const node = nodes.find((one) => one.id === id);
    if (!node) throw new AppError('not_found', 'no control plane with this id serves the database');
    if (node.public_url === null) throw new AppError('conflict', 'this control plane serves the database alone: stop it instead');
    if (isDraining && nodes.every((one) => one.id === id || one.state === 'draining'))
      throw new AppError('conflict', 'no other control plane takes work: start another one first, or stop this one');
    const state = isDraining ? 'draining' : 'up';
    await setNodeState(tx, id, state);
    return { ...node, state };
  });
}
