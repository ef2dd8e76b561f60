import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../../../client/browser.ts';
import { railsNow } from '../../../console/src/pages/fleet/router/rails-now.ts';
import { historyLines } from '../../../console/src/pages/fleet/router/history-lines.ts';

const at = (hour: number): string => new Date(Date.UTC(2031, 4, 1, hour)).toISOString();
const item = (id: string, from: number, until: number | null): HistoryItem =>
  ({ id, at: at(from), until: until === null ? null : at(until) }) as HistoryItem;

describe('the history of a router', () => {
  const records = [item('open', 2, null), item('new', 20, 21), item('across', 8, 13), item('old', 5, 6), item('older', 3, 4)];
  const noon = Date.parse(at(12));
  const ids = (isEarlier: boolean, oldest = noon) => historyLines(records, oldest, isEarlier).shown.map(({ id }) => id);

  it('shows what is of the time shown, and counts what it leaves out', () => {
    expect(ids(false)).toEqual(['open', 'new', 'across']);
    expect(historyLines(records, noon, false).older).toBe(2);
  });

  it('shows everything that was read to those who ask for earlier lines', () => {
    expect(ids(true)).toEqual(['open', 'new', 'across', 'old', 'older']);
    expect(historyLines(records, noon, true).older).toBe(0);
  });

  it('leaves out the moment before the agent told of the router, and no other state', () => {
    const state = (status: string, until: string | null): HistoryItem => ({ ...item(status, 20, null), kind: 'state', status, until });
    const shortly = new Date(Date.parse(at(20)) + 400).toISOString();
    const said = [state('answering', shortly), state('never_seen', shortly), state('never_seen', at(21)), state('never_seen', null)];
    expect(historyLines(said, noon, false)).toEqual({ shown: [said[0], said[2], said[3]], older: 0 });
  });

  it('shows what was last when nothing is of the time shown', () => {
    const old = [item('old', 5, 6), item('older', 3, 4)];
    expect(historyLines(old, noon, false)).toEqual({ shown: old, older: 0 });
  });
});

describe('the story of a router on a page that stays open', () => {
  const state = (id: string, from: number, until: number | null, status: string): HistoryItem => ({
    ...item(id, from, until),
    kind: 'state',
    title: status,
    status,
  });
  const states = [state('now', 6, null, 'answering'), state('before', 1, 6, 'not_answering')];
  const router = { created_at: at(0), software_version: '7.20' };

  it('shows the last hours, and no more the longer it is open', () => {
    const [early, late] = [8, 14].map((hour) => railsNow(router, { states }, Date.parse(at(hour)), 6));
    expect(early).toMatchObject({ from: Date.parse(at(2)), to: Date.parse(at(8)) });
    expect(early!.router.map(({ kind }) => kind)).toEqual(['not', 'heard']);
    expect(late).toMatchObject({ from: Date.parse(at(8)), to: Date.parse(at(14)) });
    expect(late!.router).toMatchObject([{ kind: 'heard', from: Date.parse(at(8)), to: Date.parse(at(14)), fact: '7.20' }]);
  });
});
