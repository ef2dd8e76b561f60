import type { Router } from '../generated.ts';
import { UsageError } from './command.ts';

export type State = NonNullable<Router['state']>;

/** In the order in which a person looks for trouble, the best first. */
export const STATES = ['answering', 'not_answering', 'agent_away', 'never_seen'] as const satisfies readonly State[];

/** Words that are quicker to type than the states themselves. */
const ALIASES: Readonly<Record<string, readonly State[]>> = {
  up: ['answering'],
  'not-answering': ['not_answering'],
  away: ['agent_away'],
  unseen: ['never_seen'],
  down: ['not_answering', 'agent_away'],
};

export const STATE_HELP = 'answering (up), not_answering, agent_away (away), never_seen (unseen); down is not_answering and agent_away';

/**
 * `away,!unseen` as the server's words. @param text states or their short words, separated by commas; `!` leaves one out
 * @throws UsageError
 */
export function statesOf(text: string): (State | `!${State}`)[] {
  return text.split(',').flatMap((word) => {
    const [, not = '', name = ''] = /^(!?)(.*)$/.exec(word)!;
    const known = STATES.find((state) => state === name);
    const states = known === undefined ? (Object.hasOwn(ALIASES, name) ? ALIASES[name]! : undefined) : [known];
    if (!states) throw new UsageError(`--state: there is no state "${name}"; states are ${STATE_HELP}`);
    return states.map((state) => (not === '' ? state : (`!${state}` as const)));
  });
}

/**
 * Why a router or an agent is away, for a column of a table: the server's word, except where it reads as something else. Beside a length of time,
 * `left` would be time that remains.
 */
export function reasonText(reason: string | null): string | null {
  return reason === 'left' ? 'agent stopped' : reason;
}

const ORDERS = ['created_at', 'identity', 'model', 'version', 'state_since'] as const;
type Order = (typeof ORDERS)[number];
const ORDER_ALIASES: Readonly<Record<string, Order>> = { since: 'state_since', name: 'identity', created: 'created_at' };

export const ORDER_HELP = 'since, name, model, version or created; a minus sign in front reverses: -since';

/** `-since` as the server's word. @throws UsageError */
export function orderOf(text: string): Order | `-${Order}` {
  const [, minus = '', name = ''] = /^(-?)(.*)$/.exec(text)!;
  const order = ORDERS.find((known) => known === name) ?? (Object.hasOwn(ORDER_ALIASES, name) ? ORDER_ALIASES[name] : undefined);
  if (!order) throw new UsageError(`--sort: there is no order "${name}"; orders are ${ORDER_HELP}`);
  return minus === '' ? order : `-${order}`;
}
