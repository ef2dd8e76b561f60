import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { packRegistry } from './oui-table.ts';

/**
 * Packs the registry in a worker thread: loading it takes a quarter of a second, which must not block the event loop,
 * and 50 MB, which are freed when the thread ends.
 */
const file = new URL(import.meta.resolve('oui-data'));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage(packRegistry(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
