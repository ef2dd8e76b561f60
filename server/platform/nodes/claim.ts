import { hostname } from 'node:os';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Storage } from '../storage/db.ts';
import { demandOfMigration, programSchema, refuseNewer, schemaOf } from '../storage/migrate.ts';
import { olderMember, programSchemaOf } from '../storage/oldest-program.ts';
import type { KeyFingerprint } from '../storage/secrets.ts';
import { admitKeys } from './admit-keys.ts';
import { identifyProcess, isGone } from './process-identity.ts';
import { deleteNode, hasNodes, insertNode, lockNodes, selectNodes } from './store.ts';
import type { NodeRecord } from './store.ts';

/** A control plane says this often that it lives. */
export const BEAT_EVERY_MS = 2000;
/** A beat that has not changed for this long is that of a control plane that was killed: it may be late when its machine is busy. */
export const DEAD_AFTER_MS = 10_000;
const LOOK_EVERY_MS = 250;

export interface ClaimDeps {
  storage: Storage;
  log: Log;
  /** Of this control plane. A start that is repeated keeps it. */
  id: string;
  version: string;
  /** How agents reach it, where several serve the database together; null for one that serves it alone. */
  publicUrl: string | null;
  /** The keys of its secret key file, of one of several. */
  keys?: readonly KeyFingerprint[] | undefined;
  /** Aborts the wait for the end of another control plane. */
  signal?: AbortSignal | undefined;
}

/** The beat of another control plane when it was seen first, and when that was on the monotonic clock. */
interface Seen {
  beat: number;
  atMs: number;
}

/**
 * Refuses to serve a PostgreSQL database that another control plane serves: both would open the ports of all forwards, and each would take
 * the agents of the other for lost. Members, which serve a database together, do not refuse each other. To be called before anything is written, and also before the schema is changed.
 *
 * Another one lives when its beat changes: seen within {@link BEAT_EVERY_MS}. It has ended when it has deleted its row, when its process
 * ran on this machine and is gone, or when its beat has not changed for 10 s of this process's monotonic time.
 * @throws AppError `conflict` when another control plane lives; `unavailable` when the signal aborts
 */
export async function waitForPredecessor({ storage, log, id, publicUrl, signal }: ClaimDeps): Promise<void> {
  if (storage.engine === 'sqlite' || !(await hasNodes(storage))) return;
  const demand = await demandOfMigration(storage);
  const seen = new Map<string, Seen>();
  for (;;) {
    const alive: NodeRecord[] = [];
    for (const node of await selectNodes(storage.db)) {
      if (node.id === id || mayServeBeside(publicUrl, node, demand)) continue;
      const since = seen.get(node.id) ?? { beat: node.beat, atMs: performance.now() };
      seen.set(node.id, since);
      // Asked first: the last beat of a process that was killed may be stored late.
      const isKilled = isGone(node.process);
      if (!isKilled && since.beat !== node.beat) throw mayServeBeside(publicUrl, node) ? olderMember(node) : refusal(node);
      const isDead = isKilled || performance.now() - since.atMs >= DEAD_AFTER_MS;
      if (!isDead || !(await takeOver(storage, node, log))) alive.push(node);
    }
    if (alive.length === 0) return;
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {
      throw new AppError('unavailable', 'stopped while waiting for the end of another control plane');
    });
  }
}

/** @returns false when it has shown a sign of life since */
async function takeOver(storage: Storage, node: NodeRecord, log: Log): Promise<boolean> {
  const isTaken = await storage.writes.write((tx) => deleteNode(tx, node));
  if (isTaken) log.warn({ reason: node.name, component: 'storage' }, 'the control plane before this one was killed; this one takes over');
  return isTaken;
}

/**
 * Enters this control plane into the database. A lock on the file does that on SQLite.
 * @throws AppError `conflict` when another one was faster
 */
export async function claimDatabase({ storage, id, version, publicUrl, keys = [] }: ClaimDeps, now: number): Promise<void> {
  if (storage.engine === 'sqlite') return;
  await storage.writes.write(async (tx) => {
    await lockNodes(tx, storage);
    await deleteNode(tx, { id });
    const others = await selectNodes(tx);
    const other = others.find((node) => !mayServeBeside(publicUrl, node));
    if (other !== undefined) throw refusal(other);
    // A newer program may have migrated since this one did.
    await refuseNewer(tx, await schemaOf(tx), programSchema());
    if (keys.length > 0) await admitKeys(tx, keys, others, now);
    const name = `${hostname()}, process ${process.pid}`;
    const own = { id, name, version, process: identifyProcess() ?? null, beat: 0, public_url: publicUrl, started_at: now };
    await insertNode(tx, {
      ...own,
      program_schema: programSchema(),
      keys: keys.length > 0 ? keys.map(({ id: key }) => key).join(' ') : null,
    });
  });
}

/**
 * Both are members. The row of a program that knew no members has no address.
 * @param demand the schema that the other one must know
 */
function mayServeBeside(publicUrl: string | null, node: NodeRecord, demand = 0): boolean {
  return publicUrl !== null && (node.public_url ?? null) !== null && programSchemaOf(node) >= demand;
}

function refusal({ name, version, started_at: startedAt }: NodeRecord): AppError {
  const since = new Date(startedAt).toISOString();
  return new AppError('conflict', `another control plane serves this database: ${name}, version ${version}, since ${since}`);
}
