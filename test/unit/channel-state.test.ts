import { describe, expect, it } from 'vitest';
import { ChannelState } from '../../protocol/channel-state.ts';
import type { ChannelRole } from '../../protocol/channel-state.ts';

type Step = (state: ChannelState) => unknown;

const open: Step = (s) => s.open();
const end: Step = (s) => s.end();
const reset: Step = (s) => s.reset();
const gotOpen =
  (n: number): Step =>
  (s) =>
    s.receiveOpen(n);
const gotBytes: Step = (s) => s.receiveBytes();
const gotEnd: Step = (s) => s.receiveEnd();
const gotReset =
  (n: number): Step =>
  (s) =>
    s.receiveReset(n);

/** Each row: who, the steps so far, and what the last step answers and leaves. */
const table: [string, ChannelRole, Step[], { answer: unknown; free: boolean; discarding?: boolean }][] = [
  ['the opener starts with connection 1', 'opener', [open], { answer: 1, free: false }],
  ['the accepter never opens', 'accepter', [open], { answer: undefined, free: true }],
  ['one connection at a time', 'opener', [open, open], { answer: undefined, free: false }],
  ['an open is accepted when free', 'accepter', [gotOpen(1)], { answer: 'deliver', free: false }],
  ['numbers have no gaps', 'accepter', [gotOpen(2)], { answer: 'violation', free: true }],
  ['nobody opens towards the opener', 'opener', [gotOpen(1)], { answer: 'violation', free: true }],
  ['a second open before the end', 'accepter', [gotOpen(1), gotOpen(2)], { answer: 'violation', free: false }],

  ['bytes before any connection', 'accepter', [gotBytes], { answer: 'violation', free: true }],
  ['bytes in a connection', 'accepter', [gotOpen(1), gotBytes], { answer: 'deliver', free: false }],
  ['bytes after the half-close of the peer', 'opener', [open, gotEnd, gotBytes], { answer: 'violation', free: false }],
  ['bytes after this side half-closed', 'opener', [open, end, gotBytes], { answer: 'deliver', free: false }],

  ['half-close is sent once', 'opener', [open, end, end], { answer: false, free: false }],
  ['half-close is received once', 'opener', [open, gotEnd, gotEnd], { answer: 'violation', free: false }],
  ['free after both half-closes', 'opener', [open, end, gotEnd], { answer: 'deliver', free: true }],
  ['the next connection is number 2', 'opener', [open, end, gotEnd, open], { answer: 2, free: false }],

  ['a reset waits for the peer', 'opener', [open, reset], { answer: true, free: false, discarding: true }],
  ['a reset is sent once', 'opener', [open, reset, reset], { answer: false, free: false, discarding: true }],
  ['nothing to reset', 'opener', [reset], { answer: false, free: true }],
  ['no half-close after a reset', 'opener', [open, reset, end], { answer: false, free: false, discarding: true }],
  ['bytes meet a reset', 'opener', [open, reset, gotBytes], { answer: 'discard', free: false, discarding: true }],
  ['a half-close meets a reset', 'opener', [open, reset, gotEnd], { answer: 'discard', free: true }],
  ['a reset meets a reset', 'opener', [open, reset, gotReset(1)], { answer: 'discard', free: true }],
  ['a reset after the half-close of the peer frees at once', 'opener', [open, gotEnd, reset], { answer: true, free: true }],
  ['a reset may follow the own half-close', 'opener', [open, end, reset], { answer: true, free: false, discarding: true }],

  ['the peer resets', 'accepter', [gotOpen(1), gotReset(1)], { answer: 'deliver', free: false }],
  ['and is answered', 'accepter', [gotOpen(1), gotReset(1), reset], { answer: true, free: true }],
  ['the peer resets what this side has half-closed', 'accepter', [gotOpen(1), end, gotReset(1)], { answer: 'deliver', free: true }],
  ['a late reset of a finished connection', 'opener', [open, end, gotEnd, gotReset(1)], { answer: 'ignore', free: true }],
  ['a late reset after the next open', 'opener', [open, end, gotEnd, open, gotReset(1)], { answer: 'ignore', free: false }],
  ['a reset from the future', 'opener', [open, gotReset(2)], { answer: 'violation', free: false }],
];

describe('channel state', () => {
  it.each(table)('%s', (_name, role, steps, expected) => {
    const state = new ChannelState(role);
    const answers = steps.map((step) => step(state));
    expect(answers.at(-1)).toBe(expected.answer);
    expect(state.free).toBe(expected.free);
    expect(state.discarding).toBe(expected.discarding ?? false);
  });
});
