import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportLines } from '../../../server/work/backups/diff/export-lines.ts';
import { diffLines } from '../../../server/work/backups/diff/lines.ts';
import { unifiedDiff } from '../../../server/work/backups/diff/unified.ts';

const few = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

/** Length of the longest common subsequence, the slow and certain way. */
function longestCommon(a: string[], b: string[]): number {
  let row = Array<number>(b.length + 1).fill(0);
  for (const left of a) {
    const next = [0];
    for (const [index, right] of b.entries()) next.push(left === right ? row[index]! + 1 : Math.max(row[index + 1]!, next[index]!));
    row = next;
  }
  return row.at(-1)!;
}

describe('the difference of two lists of lines', () => {
  it('leads from the one to the other, and no shorter way does', () => {
    fc.assert(
      fc.property(few, few, (before, after) => {
        const { edits } = diffLines(before, after);
        expect(edits.filter(({ kind }) => kind !== 'added').map(({ line }) => line)).toEqual(before);
        expect(edits.filter(({ kind }) => kind !== 'removed').map(({ line }) => line)).toEqual(after);
        expect(edits.filter(({ kind }) => kind === 'same')).toHaveLength(longestCommon(before, after));
      }),
    );
  });

  it('of long lists that have little in common is found in bounded time, and is true', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}`);
    const after = ['first', ...Array.from({ length: 20_000 }, (_, index) => `new ${index}`), 'last'];
    const { edits, isCoarse } = diffLines(['same', ...before], ['same', ...after]);
    expect(isCoarse).toBe(true);
    expect(edits).toHaveLength(1 + before.length + after.length);
    expect(edits[0]).toEqual({ kind: 'same', line: 'same' });
  });
});

describe('a unified diff', () => {
  const print = (before: string[], after: string[]): string => unifiedDiff({ name: 'a', lines: before }, { name: 'b', lines: after }).diff;

  it('names the menu that a change belongs to, as it was before the change', () => {
    const rows = Array.from({ length: 8 }, (_none, index) => `add address=10.0.0.${index}/24`);
    const before = ['/ip address', ...rows, '/ip dns', 'set servers=192.0.2.1'];
    const after = ['/ip address', ...rows.slice(0, -1), '/ip dns', 'set servers=192.0.2.1'];
    expect(print(before, after).split('\n')[2]).toBe('@@ -6,6 +6,5 @@ /ip address');
    expect(print(['x', ...before], ['y', ...before]).split('\n')[2]).toBe('@@ -1,4 +1,4 @@');
  });

  it('of the same is empty', () => {
    expect(print(['x'], ['x'])).toBe('');
  });

  it('has three lines around a change, and one hunk for changes that are close', () => {
    const before = Array.from({ length: 30 }, (_, index) => `${index + 1}`);
    const after = before.flatMap((line) => (line === '5' ? [] : line === '9' ? ['nine'] : line === '25' ? ['25', 'new'] : [line]));
    expect(print(before, after).split('\n')).toEqual([
      '--- a',
      '+++ b',
      '@@ -2,11 +2,10 @@',
      ' 2',
      ' 3',
      ' 4',
      '-5',
      ' 6',
      ' 7',
      ' 8',
      '-9',
      '+nine',
      ' 10',
      ' 11',
      ' 12',
      '@@ -23,6 +22,7 @@',
      ' 23',
      ' 24',
      ' 25',
      '+new',
      ' 26',
      ' 27',
      ' 28',
      '',
    ]);
  });

  it('names the line before an insertion into nothing', () => {
    expect(print([], ['x'])).toBe('--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n');
    expect(print(['x'], [])).toBe('--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n');
  });

  it('that is too long is cut at a line', () => {
    const long = Array.from({ length: 30_000 }, (_, index) => `${index} ${'x'.repeat(60)}`);
    const { diff, truncated } = unifiedDiff({ name: 'a', lines: [] }, { name: 'b', lines: long });
    expect(truncated).toBe(true);
    expect(diff.length).toBeLessThanOrEqual(1_000_001);
    expect(diff).toMatch(/x\n$/);
  });
});

describe('the lines of an export', () => {
  it('are without date and remarks, and wrapped ones are whole', () => {
    const text =
      '# 2026-11-20 10:00:00 by RouterOS 7.18.2\r\n# software id = ABCD\r\n#\r\n/ip address\r\nadd address=192.168.88.1/24 comment=defconf \\\r\n    interface=bridge\r\n# no interface\r\n';
    expect(exportLines(text)).toEqual(['/ip address', 'add address=192.168.88.1/24 comment=defconf interface=bridge']);
  });

  it('do not show what agents keep on a router for the time of a job', () => {
    const own = 'signalbox-0190f8a0-1111-7000-8000-000000000000';
    const text = `/system script\nadd dont-require-permissions=no name=${own} owner=x source="# job done"\n/system scheduler\nadd interval=5s name=signalbox-undo-0190f8a0-1111-7000-8000-000000000000\nadd name=mine\n`;
    expect(exportLines(text)).toEqual(['/system scheduler', 'add name=mine']);
  });
});
