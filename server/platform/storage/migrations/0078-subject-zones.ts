import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** In which zone the times of a message's subject are. */
function statements(engine: Engine): string[] {
  return [`alter table messages add column subject_time_zone ${capabilities[engine].text}`];
}

export const subjectZones: Migration = { number: 78, name: 'subject zones', expands: true, statements };
