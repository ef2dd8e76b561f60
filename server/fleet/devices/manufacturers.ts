import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { isLocallyAdministered } from './mac.ts';
import { findManufacturer } from './oui-table.ts';
import type { OuiData } from './oui-table.ts';

/** What is answered as manufacturer of an address that software has made up. */
export const LOCALLY_ADMINISTERED = 'Locally administered';

/** Longest name stored; the registry's longest has 109 characters. */
const MAX_NAME = 200;
/** A slow disk and a busy machine; usually it is a quarter of a second. */
const LOAD_TIMEOUT_MS = 30_000;

/** Who made a device, by the registry of the IEEE (package oui-data). Read when it is first asked. */
export class Manufacturers {
  #data: Promise<OuiData> | undefined;

  /** A function from `AA:BB:CC:DD:EE:FF` to the name; null when nobody has registered it. @throws Error when the registry cannot be read */
  async lookup(): Promise<(mac: string) => string | null> {
    this.#data ??= loadRegistry().catch((error: unknown) => {
      // The next one tries again.
      this.#data = undefined;
      throw error;
    });
    const data = await this.#data;
    // A few old registrations have the local bit set, so the registry is asked first.
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
