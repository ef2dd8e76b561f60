import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which levels of terminals a router's agent opens on it. */
function statements(engine: Engine): string[] {
  return [`alter table routers add column terminal_levels ${capabilities[engine].text}`];
}

export const terminalLevels: Migration = { number: 77, name: 'terminal levels', expands: true, statements };
