import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitWords } from '../../../client/cli/command-words.ts';
import { resolvedNote } from '../../../client/cli/fault-commands.ts';
import { joinParameters } from '../../../client/cli/router-commands.ts';
import { printable, record, rowsText, table } from '../../../client/cli/text.ts';
import { splitConsoleWords } from '../../../server/work/commands/console-words.ts';

describe('words of a shell become parameters of the service', () => {
  test.each([
    [[], ''],
    [['address=10.0.0.1/30 interface=ether1'], 'address=10.0.0.1/30 interface=ether1'],
    [['address=10.0.0.1/30', 'comment=by hand'], 'address=10.0.0.1/30 comment="by hand"'],
    [['=disabled=no', '?type=ether'], '=disabled=no\n?type=ether'],
    [['detail', 'comment="quoted already"'], 'detail comment="quoted already"'],
  ])('%j', (words, parameters) => {
    expect(joinParameters(words)).toBe(parameters);
  });

  test('whatever a value holds arrives', () => {
    const value = fc.string({ minLength: 1 }).filter((text) => !text.startsWith('"'));
    fc.assert(
      fc.property(value, (text) => {
        const words = splitConsoleWords(joinParameters(['name=x', `comment=${text} end`]));
        expect(words).toEqual([
          { name: 'name', value: 'x' },
          { name: 'comment', value: `${text} end` },
        ]);
      }),
    );
  });
});

describe('words of a shell are the command up to its verb', () => {
  test.each([
    ['/ip/address/print', '/ip/address/print', []],
    ['/ip address print', '/ip address print', []],
    ['ip address print where dynamic=no', 'ip address print', ['where', 'dynamic=no']],
    ['/ip/address print detail', '/ip/address print', ['detail']],
    ['/ip address/print ?interface=ether1', '/ip address/print', ['?interface=ether1']],
    ['/ip address add address=10.0.0.1/24 interface=ether2', '/ip address add', ['address=10.0.0.1/24', 'interface=ether2']],
    ['/interface print detail', '/interface print', ['detail']],
    ['/interface/print detail', '/interface/print', ['detail']],
    ['/export terse', '/export', ['terse']],
    ['/ping address=192.0.2.1 count=3', '/ping', ['address=192.0.2.1', 'count=3']],
    ['/interface/monitor-traffic ether1 once', '/interface/monitor-traffic', ['ether1', 'once']],
    ['/system package update check-for-updates', '/system package update check-for-updates', []],
    ['/system identity set name=export', '/system identity set', ['name=export']],
  ])('%s', (line, command, parameters) => {
    expect(splitWords(line.split(' '))).toEqual({ command, parameters });
  });

  test('a quoted command stays as it is', () => {
    expect(splitWords(['/ip address print', 'detail'])).toEqual({ command: '/ip address print', parameters: ['detail'] });
  });
});

test.each([
  [[], ''],
  [['open' as const], ''],
  [['resolved' as const, 'open' as const, 'resolved' as const], '\n1 open, 2 resolved. With --open, only the open ones are listed.\n'],
])('a list of faults that are %j ends with their numbers, if some are over', (states, note) => {
  expect(resolvedNote(states.map((status) => ({ status })))).toBe(note);
});

test('what routers say cannot move the cursor or change the terminal', () => {
  expect(printable('a\u001b[2Jb\nc\u202ed')).toBe('a [2Jb c d');
  // Not `unit: 'binary'`, which takes seconds to set up.
  const anyText = fc.array(fc.integer({ min: 0, max: 0x10ffff })).map((codes) => String.fromCodePoint(...codes));
  fc.assert(fc.property(anyText, (text) => !/\p{Cc}/u.test(printable(text))));
});

test('rows are a table when that fits, and blocks when not', () => {
  const rows = [
    { id: '*1', name: 'ether1' },
    { id: '*2', name: 'ether2', comment: 'up' },
  ];
  expect(rowsText(rows, 80)).toBe('ID  NAME    COMMENT\n*1  ether1  -\n*2  ether2  up\n');
  expect(rowsText(rows, 10)).toBe('id    *1\nname  ether1\n\nid       *2\nname     ether2\ncomment  up\n');
  expect(rowsText([], 80)).toBe('(no rows)\n');
  expect(table([], [['A', () => '']], 'nothing', 80)).toBe('nothing\n');
});

describe('a table that is wider than the terminal', () => {
  const rows = [{ id: '01a1fba0', text: 'link of ether1 is down since noon', at: '2031-05-01T12:00:00.123Z' }];
  const shown = (width: number) =>
    table(
      rows,
      [
        ['ID', (row) => row.id],
        ['MESSAGE', (row) => row.text],
        ['SINCE', (row) => row.at],
      ],
      'none',
      width,
    );

  test('stays one line per row when the output is not a terminal', () => {
    expect(shown(Infinity)).toBe(
      'ID        MESSAGE                            SINCE\n01a1fba0  link of ether1 is down since noon  2031-05-01T12:00:00Z\n',
    );
  });

  test('wraps texts inside their column and keeps every word', () => {
    expect(shown(50)).toBe(
      ['ID        MESSAGE             SINCE', '01a1fba0  link of ether1 is   2031-05-01T12:00:00Z', '          down since noon', ''].join(
        '\n',
      ),
    );
  });

  test('becomes one block per row when single words do not fit', () => {
    expect(shown(30)).toBe('ID       01a1fba0\nMESSAGE  link of ether1 is down since noon\nSINCE    2031-05-01T12:00:00Z\n');
  });

  test('never exceeds the width of the terminal as a table', () => {
    fc.assert(
      fc.property(fc.array(fc.lorem(), { minLength: 2, maxLength: 5 }), fc.integer({ min: 20, max: 120 }), (texts, width) => {
        const columns = texts.map((text, index) => [`C${index}`, () => text] as const);
        const lines = table([{}], columns, 'none', width).split('\n');
        const isTable = /^C0 +C1/.test(lines[0]!);
        expect(!isTable || lines.every((line) => line.length <= width)).toBe(true);
      }),
    );
  });
});

describe('wide characters', () => {
  const rows = [
    { name: '東京本社', state: 'answering' },
    { name: 'gw-🚀', state: 'agent_away' },
    { name: 'berlin', state: 'never_seen' },
  ];
  const columns = [['ROUTER', (row: (typeof rows)[0]) => row.name] as const, ['STATE', (row: (typeof rows)[0]) => row.state] as const];

  test('take two cells, so columns stay aligned', () => {
    expect(table(rows, columns, 'none', 80)).toBe('ROUTER    STATE\n東京本社  answering\ngw-🚀     agent_away\nberlin    never_seen\n');
    expect(rowsText([{ 名: '1' }, { 名: '2' }], 80)).toBe('名\n1\n2\n');
    expect(record([['名前', 'x'] as const, ['id', 'y'] as const])).toBe('名前  x\nid    y\n');
  });

  test('count two also when a table is fitted into the terminal', () => {
    const text = table([{ name: '東京 本社', state: 'x' }], columns, 'none', 13);
    expect(text).toBe('ROUTER  STATE\n東京    x\n本社\n');
  });
});

describe('a terminal that is too narrow for every column', () => {
  const rows = [{ id: '01a1fba0-5b1e-7354', name: 'edge-berlin', from: '203.0.113.7' }];
  const shown = (width: number) =>
    table(
      rows,
      [
        ['ID', (row) => row.id, 1],
        ['ROUTER', (row) => row.name],
        ['FROM', (row) => row.from, 2],
      ],
      'none',
      width,
    );

  test('gets those that matter most, and a line that names the others', () => {
    expect(shown(80)).toMatch(/^ID +ROUTER +FROM\n.*\n$/);
    expect(shown(30)).toBe('ROUTER       FROM\nedge-berlin  203.0.113.7\n\nToo narrow for ID: use a wider\nterminal, or --json.\n');
    expect(shown(20)).toMatch(/^ROUTER\nedge-berlin\n\nToo narrow for ID,\nFROM: /);
  });

  test('gets one block per row when even that is too wide', () => {
    expect(shown(8)).toBe('ID      01a1fba0-5b1e-7354\nROUTER  edge-berlin\nFROM    203.0.113.7\n');
  });
});

test('one very long name is broken inside its column instead of making every row a block; an id never is', () => {
  const rows = [
    { id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1a', name: 'x'.repeat(40) },
    { id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1b', name: 'short' },
  ];
  const columns = [['ID', (row: (typeof rows)[0]) => row.id] as const, ['NAME', (row: (typeof rows)[0]) => row.name] as const];
  expect(table(rows, columns, 'none', 68)).toBe(
    `ID                                    NAME\n${rows[0]!.id}  ${'x'.repeat(30)}\n${' '.repeat(38)}${'x'.repeat(10)}\n${rows[1]!.id}  short\n`,
  );
  expect(table(rows, columns, 'none', 50)).toMatch(/^ID {4}01a1fba0-5b1e-7354-a8b1-996d0b28db1a\nNAME {2}x{40}\n/);
});

test('a table of 5,000 rows of many words is laid out', () => {
  const text = 'a word '.repeat(60).trim();
  const rows = Array.from({ length: 5000 }, () => ({ text }));
  expect(table(rows, [['TEXT', (row) => row.text]], 'none', 100).split('\n').length).toBe(1 + 5000 * 5 + 1);
});
