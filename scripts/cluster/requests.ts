import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';

/**
 * How a second terminal asks the running cluster for something: by an empty file with the name of the node, in a folder that only its user
 * may write to.
 */

const FOLDER = 'revive';
const LOOK_EVERY_MS = 300;
/** A start takes a second or two on a quiet machine. */
const REVIVED_WITHIN_MS = 60_000;

/** Calls back for each request until the signal aborts. */
export async function answerRequests(folder: string, signal: AbortSignal, revive: (name: string) => void): Promise<void> {
  const requests = path.join(folder, FOLDER);
  await mkdir(requests, { mode: 0o700 });
  while (!signal.aborted) {
    for (const name of await readdir(requests)) {
      await rm(path.join(requests, name));
      revive(name);
    }
    await pause();
  }
}

interface ClusterFile {
  supervisor_pid: number;
  nodes: { name: string; base_url: string; pid: number | null }[];
}

/**
 * Asks the cluster of this checkout to start a node again, and waits until that node is ready.
 * @returns a line that says so
 * @throws Error when no cluster runs, when it has no such node, or when the node does not become ready
 */
export async function requestRevival(root: string, firstPort: number, name: string | undefined): Promise<string> {
  const { folder, file } = await findCluster(root, firstPort);
  const node = file.nodes.find((one) => one.name === name);
  if (!node) throw new Error(`say which node: npm run cluster -- revive ${file.nodes.map((one) => one.name).join(' | ')}`);
  if (node.pid !== null && isAlive(node.pid)) return `${node.name} runs, as process ${node.pid}`;
  await writeFile(path.join(folder, FOLDER, node.name), '');
  const deadline = performance.now() + REVIVED_WITHIN_MS;
  while (performance.now() < deadline) {
    await pause();
    const now = (await readCluster(folder))?.nodes.find((one) => one.name === node.name);
    if (!now?.pid || now.pid === node.pid) continue;
    const ready = await fetch(`${now.base_url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    if (ready?.ok) return `${now.name} is ready, as process ${now.pid}`;
  }
  throw new Error(`${node.name} was not ready within ${REVIVED_WITHIN_MS / 1000} s; see ${path.join(folder, `${node.name}.log`)}`);
}

async function findCluster(root: string, firstPort: number): Promise<{ folder: string; file: ClusterFile }> {
  for (const name of [`.demo-${firstPort}`, '.demo']) {
    const folder = path.join(root, name);
    const file = await readCluster(folder);
    if (file && isAlive(file.supervisor_pid)) return { folder, file };
  }
  throw new Error('no cluster runs in this checkout: start one with npm run cluster');
}

/** @returns undefined where none was */
async function readCluster(folder: string): Promise<ClusterFile | undefined> {
  try {
    return JSON.parse(await readFile(path.join(folder, 'cluster.json'), 'utf8')) as ClusterFile;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
