import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { packRegistry } from './oui-table.ts';

/**
 * Packs the registry in a thread of its own: reading it takes a quarter of a second and 50 MB, which nobody else
 * should wait for and which go with the thread.
 */
const file = new URL(import.meta.resolve('oui-data'));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage(packRegistry(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
