import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnexpectedErrors } from '../unexpected-errors.ts';
import { activeResources, disturb, measure, nothingLeft, planDisturbances, type Sampling } from './disturb.ts';
import { type HandshakeRouters, startHandshakeRouters } from './handshakes.ts';

/** Tests that no line and no router can end the agent, or leave anything in it, by what happens during a handshake. */
export function describeHandshakes(sampling: Sampling, timeoutMs: number): void {
  let folder: string;
  let routers: HandshakeRouters;
  let errors: UnexpectedErrors;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'handshakes-'));
    routers = await startHandshakeRouters(folder);
    errors = new UnexpectedErrors();
  });

  afterAll(async () => {
    errors.stop();
    await routers.close();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    `a line that breaks, stalls or garbles ends only the session: ${sampling.offsets} offsets each way, seed ${sampling.seed}`,
    async () => {
      for (const handshake of routers.handshakes) {
        const bytes = await measure(handshake);
        const before = activeResources();
        const plans = planDisturbances(bytes, sampling);
        const wrong = await disturb(handshake, plans);
        expect(wrong.slice(0, 5)).toEqual([]);
        expect(errors.take().slice(0, 5), handshake.name).toEqual([]);
        await nothingLeft(before);
        await measure(handshake);
        if (sampling.offsets === 'all') process.stdout.write(`${handshake.name}: ${plans.length} disturbances\n`);
      }
    },
    timeoutMs,
  );
}
