import type { Browser, Page } from 'playwright-core';
import { describe, it } from 'vitest';
import { isChromiumMissing } from '../../../harness/chromium.ts';
import { Visit, launchWholeChromium, startConsoleWorld } from '../../../harness/console-browser.ts';
import { TlsFront, isTlsFrontMissing } from '../../../harness/tls-front.ts';
import type { World, WorldOptions } from '../../../harness/world.ts';

/** What a journey has: a control plane, an agent and routers of its own, and a person at a browser. */
export interface Stage {
  world: World;
  browser: Browser;
  visit: Visit;
  page: Page;
}

/** One thing that people come to the web application for, from sign-in to what they wanted. */
export interface Journey {
  /** What the person does and sees. */
  title: string;
  /** Of the world: one router unless told. */
  world?: WorldOptions;
  run: (stage: Stage) => Promise<void>;
}

/** The longest of them waits until an agent has noticed that a router is silent, milliseconds. */
const LONGEST_MS = 240_000;

/**
 * Runs journeys as tests. Each has a world of its own, and fails when the browser complains: of an error in its console, of a policy, of a
 * request to another origin.
 * @param way `tls`: through a reverse proxy with a certificate of an own CA
 */
export function runJourneys(journeys: readonly Journey[], way: 'plain' | 'tls' = 'plain'): void {
  describe.skipIf(isChromiumMissing || (way === 'tls' && isTlsFrontMissing))(`a person in Chromium, ${way}`, () => {
    it.each(journeys)('$title', { timeout: LONGEST_MS }, async (journey) => {
      const front = way === 'tls' ? { front: await TlsFront.prepare() } : {};
      const world = await startConsoleWorld({ ...journey.world, ...front });
      const browser = await launchWholeChromium(world);
      try {
        const visit = await Visit.start(browser, world);
        await journey.run({ world, browser, visit, page: visit.page });
        await visit.end();
      } finally {
        await browser.close();
        await world.close();
      }
    });
  });
}
