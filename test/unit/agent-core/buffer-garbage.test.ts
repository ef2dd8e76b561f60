import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('../../../agent/core/buffer-garbage.ts', import.meta.url));
const KIND_FULL = 4;

interface Seen {
  fullCollections: number;
  residentMegabytes: number;
}

/** A process that allocates and drops 2 GB of buffers, as decryption does. */
async function letBuffersGoBy(before: string): Promise<Seen> {
  const program = `
    import { PerformanceObserver } from 'node:perf_hooks';
    import { setImmediate as turn } from 'node:timers/promises';
    import { collectBuffersWithObjects } from ${JSON.stringify(MODULE)};
    ${before}
    let fullCollections = 0;
    let residentMegabytes = 0;
    const observer = new PerformanceObserver((list) => {
      fullCollections += list.getEntries().filter((entry) => entry.detail.kind === ${KIND_FULL}).length;
    });
    observer.observe({ entryTypes: ['gc'] });
    for (let i = 0; i < 8192; i += 1) {
      for (let k = 0; k < 8; k += 1) Buffer.allocUnsafeSlow(32 * 1024).fill(k);
      if (i % 64 === 0) residentMegabytes = Math.max(residentMegabytes, process.memoryUsage.rss() / 1e6);
      await turn();
    }
    await turn();
    process.stdout.write(JSON.stringify({ fullCollections, residentMegabytes }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { timeout: 60_000 });
  return JSON.parse(stdout) as Seen;
}

it('short-lived buffers cause no full collections and do not accumulate', async () => {
  const usual = await letBuffersGoBy('');
  const ours = await letBuffersGoBy('collectBuffersWithObjects();');
  expect(usual.fullCollections).toBeGreaterThan(10);
  expect(ours.fullCollections).toBeLessThan(usual.fullCollections / 3);
  expect(ours.residentMegabytes).toBeLessThan(300);
});
