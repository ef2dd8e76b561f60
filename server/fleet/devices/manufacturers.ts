import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { isLocallyAdministered } from './mac.ts';
import { findManufacturer } from './oui-table.ts';
import type { OuiData } from './oui-table.ts';

/** Shown as the manufacturer of a locally administered address. */
export const LOCALLY_ADMINISTERED = 'Locally administered';

/** Longest name stored; the registry's longest has 109 characters. */
const MAX_NAME = 200;
/** Allows for a slow disk and a busy machine; loading usually takes a quarter of a second. */
const LOAD_TIMEOUT_MS = 30_000;

/** Looks up manufacturers in the IEEE registry (package oui-data). Loaded at the first lookup. */
export class Manufacturers {
  #data: Promise<OuiData> | undefined;

  /** A function from `AA:BB:CC:DD:EE:FF` to the name; null when unregistered. @throws Error when the registry cannot be read */
  async lookup(): Promise<(mac: string) => string | null> {
    this.#data ??= loadRegistry().catch((error: unknown) => {
      // The next lookup tries again.
      this.#data = undefined;
      throw error;
    });
    const data = await this.#data;
    // A few old registrations have the local bit set, so the registry comes first.
    return (mac) => findManufacturer(data, mac)?.slice(0, MAX_NAME) ?? (isLocallyAdministered(mac) ? LOCALLY_ADMINISTERED : null);
  }
}

async function loadRegistry(): Promise<OuiData> {
  const worker = new Worker(new URL('oui-worker.ts', import.meta.url));
  try {
    const [data] = (await once(worker, 'message', { signal: AbortSignal.timeout(LOAD_TIMEOUT_MS) })) as [OuiData];
    return data;
  } finally {
    await worker.terminate();
  }
}
