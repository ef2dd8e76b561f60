import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Row } from '../../simulator/menu/types.ts';
import { formatList, formatRecord, type PrintOptions } from '../../simulator/script/print-format.ts';
import { printShape } from '../../simulator/script/print-shapes.ts';

// Recorded on real routers; outside the project, read in place.
const samples = new URL('../../../../shared/routeros/samples/cli-text/', import.meta.url);
const isHere = existsSync(samples);
if (!isHere) process.stdout.write('recorded console output skipped: the samples are not here\n');

function lines(name: string): string[] {
  const text = readFileSync(new URL(name, samples), 'utf8');
  return text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.includes(' echo: '));
}

function print(rows: readonly Row[], options: PrintOptions): string[] {
  const text = formatList(
    rows.map((row, number) => ({ row, number })),
    options,
  );
  expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  return text
    .split('\r\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}

/** Rows out of a recorded `detail` or `terse` list: the letters become the flags, `;;;` the comment. */
function readItems(recorded: readonly string[], path: string): Row[] {
  const flags = printShape(path).flags.flat();
  const rows: Map<string, string>[] = [];
  for (const line of recorded) {
    const start = /^ ?\d+ ([A-Z ]*)(?=[a-z;])/.exec(line);
    if (start !== null) rows.push(new Map([['.id', '*1'], ...flagsOf(flags, start[1] ?? '')]));
    const row = rows.at(-1);
    const comment = /;;; (.*)$/.exec(line)?.[1] ?? /comment=(.*?) [a-z-]+=/.exec(line)?.[1];
    if (comment !== undefined) row?.set('comment', comment);
    const words = comment === undefined ? line : line.slice(line.indexOf(comment) + comment.length);
    for (const [, name = '', value = ''] of words.matchAll(/([a-z][a-z0-9-]*)=("[^"]*"|\S+(?: \d\d:\d\d:\d\d)?)/g))
      row?.set(name, value.replaceAll('"', ''));
  }
  return rows;
}

function flagsOf(flags: readonly { property: string; letter: string }[], letters: string): [string, string][] {
  return flags.map(({ property, letter }) => [property, String(letters.includes(letter))]);
}

const items: readonly (readonly [name: string, path: string, style: PrintOptions['style'], version: string])[] = [
  ['interface_print_detail_without-paging.v6.42-rb3011-x86.txt', '/interface', 'detail', '6.42'],
  ['ip_address_print_detail_without-paging.v6.42-rb3011-x86.txt', '/ip/address', 'detail', '6.42'],
  ['interface_print_terse.v7.txt', '/interface', 'terse', '7.15'],
];

/** One line per item: where it was broken depends on the width of a terminal nobody recorded. */
function unwrap(printed: readonly string[]): string[] {
  return printed
    .join('\n')
    .replaceAll(/\n {3,}/g, ' ')
    .split('\n');
}

test.skipIf(!isHere).each(items)('%s comes out as it went in', (name, path, style, version) => {
  const recorded = lines(name);
  expect(unwrap(print(readItems(recorded, path), { path, style, version }))).toEqual(unwrap(recorded));
});

test.skipIf(!isHere)('the ARP table of a v7 console', () => {
  const [legend, columns, heading, ...rows] = lines('ip_arp_print.v7-with-log-echo.txt');
  const names = (heading ?? '').split(/\s+/).slice(1);
  const read = rows.map((line) => {
    const [, letters = '', ...values] = line.split(/\s+/);
    return new Map([
      ...flagsOf(printShape('/ip/arp').flags.flat(), letters),
      ...names.map((name, at): [string, string] => [name.toLowerCase(), values[at] ?? '']),
    ]);
  });
  const [last] = rows.slice(-1);
  const printed = print(read, { path: '/ip/arp', style: 'table', version: '7.15' });
  // The recording itself has lost a blank in its last line, behind the log message.
  expect(printed).toEqual([legend, columns, heading, ...rows.slice(0, -1), last?.replace(/^(\d+ [A-Z]+) /, '$1  ')]);
});

test.skipIf(!isHere)('a record is right-aligned at its colon', () => {
  const recorded = lines('system_routerboard_print.v7-hapac3-warning.txt').filter((line) => !line.startsWith(';;;'));
  const row = new Map(recorded.map((line) => [line.split(':')[0]?.trim() ?? '', line.slice(line.indexOf(':') + 2)]));
  expect(formatRecord(row).split('\r\n').slice(0, -1)).toEqual(recorded);
});

test('an empty list prints nothing on v7 and its heading on v6', () => {
  expect(print([], { path: '/ip/address', style: 'table', version: '7.1' })).toEqual([]);
  expect(print([], { path: '/ip/address', style: 'table', version: '6.49' })[0]).toMatch(/^Flags: X - disabled/);
});

test('a v7 table leaves out unused flags, and counters without stats', () => {
  const row = new Map([
    ['.id', '*1'],
    ['name', 'ether1'],
    ['type', 'ether'],
    ['running', 'true'],
    ['rx-byte', '5'],
    ['comment', 'up'],
  ]);
  expect(print([row], { path: '/interface', style: 'table', version: '7.20' })).toEqual([
    'Flags: R - RUNNING',
    'Columns: NAME, TYPE',
    '#   NAME    TYPE',
    ';;; up',
    '0 R ether1  ether',
  ]);
});
