import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Who has taken a thread over, whom it was escalated to, and which silence holds it back; which of a person's addresses a message goes to. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table threads add column acknowledged_by_kind ${text}`,
    'alter table threads add column acknowledged_until bigint',
    'alter table threads add column escalate_at bigint',
    'alter table threads add column escalation_level integer not null default 0',
    `alter table threads add column escalated_to ${text} not null default '[]'`,
    'alter table threads add column silenced_until bigint',
    'create index threads_silenced on threads (team_id, silenced_until) where silenced_until is not null',
    `alter table messages add column address_id ${text}`,
  ];
}

export const threadCare: Migration = { number: 54, name: 'thread care', statements };
