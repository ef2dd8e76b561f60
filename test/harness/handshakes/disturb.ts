import process from 'node:process';
import { AgentError } from '../../../agent/core/errors.ts';
import { waitUntil } from '../wait-until.ts';
import { type Disturbance, FaultyLine, LINE_FAULTS } from './faulty-line.ts';
import type { Handshake } from './handshakes.ts';

/** A handshake takes tens of milliseconds, more beside others; one that gets no answer is given up after this. */
const PATIENCE = { timeoutMs: 1500 };
const CLEAN = { timeoutMs: 20_000 };
const AT_ONCE = 8;

/** Bytes that an undisturbed run says each way. */
export async function measure(handshake: Handshake): Promise<{ up: number; down: number }> {
  const line = await FaultyLine.start(handshake.port);
  try {
    await handshake.run(line.port, CLEAN);
    return line.carried;
  } finally {
    await line.close();
  }
}

export interface Sampling {
  /** Offsets of each direction: all of them, or so many, evenly spread and shifted by the seed. */
  offsets: number | 'all';
  seed: number;
}

/** Which disturbances to try: at every chosen offset one fault after another, all of them in turn. */
export function planDisturbances({ up, down }: { up: number; down: number }, { offsets, seed }: Sampling): Disturbance[] {
  const plans: Disturbance[] = [];
  for (const [direction, bytes] of [
    ['down', down],
    ['up', up],
  ] as const) {
    const count = offsets === 'all' ? bytes : Math.min(bytes, offsets);
    for (let index = 0; index < count; index += 1) {
      const offset = count === bytes ? index : (Math.floor((index * bytes) / count) + seed) % bytes;
      // Nine faults and an even number of offsets: every fault meets every part of the handshake.
      plans.push({ fault: LINE_FAULTS[(index + seed) % LINE_FAULTS.length]!, direction, offset, seed: seed + index });
    }
  }
  return plans;
}

/** Runs the handshake once for each plan. @returns what went wrong in another way than with an AgentError */
export async function disturb(handshake: Handshake, plans: readonly Disturbance[]): Promise<string[]> {
  const wrong: string[] = [];
  const waiting = [...plans];
  const worker = async (): Promise<void> => {
    for (let plan = waiting.pop(); plan; plan = waiting.pop()) {
      const problem = await disturbOnce(handshake, plan);
      if (problem !== undefined) wrong.push(`${handshake.name} ${JSON.stringify(plan)}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return wrong;
}

async function disturbOnce(handshake: Handshake, plan: Disturbance): Promise<string | undefined> {
  const line = await FaultyLine.start(handshake.port, plan);
  const startedAt = performance.now();
  try {
    await handshake.run(line.port, PATIENCE);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code === 'internal') return String((error as Error).stack);
  } finally {
    await line.close();
  }
  const took = performance.now() - startedAt;
  // Connect and operation have the deadline each, the close a second.
  return took > 20_000 ? `took ${Math.round(took)} ms` : undefined;
}

/** Sockets and timers that keep this process awake. */
export function activeResources(): { sockets: number; timers: number } {
  const names = process.getActiveResourcesInfo();
  const count = (name: string): number => names.filter((each) => each === name).length;
  return { sockets: count('TCPSocketWrap') + count('TLSWrap'), timers: count('Timeout') };
}

/** Waits until no more is left than there was. */
export async function nothingLeft(before: { sockets: number; timers: number }): Promise<void> {
  await waitUntil(
    `sockets and timers go back to ${JSON.stringify(before)}`,
    () => {
      const now = activeResources();
      // The wait itself has a timer.
      return now.sockets <= before.sockets && now.timers <= before.timers + 1;
    },
    30_000,
  );
}
