import { parentPort, workerData } from 'node:worker_threads';
import { exportLines } from './export-lines.ts';
import { unifiedDiff } from './unified.ts';
import type { DiffTask } from './diff-threads.ts';

/** Compares two exports in a worker thread, because it may take a second and a hundred megabytes. */
const { before, after } = workerData as DiffTask;
const side = ({ name, content }: DiffTask['before']) => ({ name, lines: exportLines(new TextDecoder().decode(content)) });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage(unifiedDiff(side(before), side(after)));
