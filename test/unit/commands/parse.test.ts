import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditedPath, parseCommand } from '../../../server/work/commands/parse.ts';
import { RowsText, toPublicRow } from '../../../server/work/commands/rows.ts';
import { AppError } from '../../../server/platform/core/errors.ts';

function refusal(command: string, parameters = ''): { field: string; reason: string } {
  try {
    parseCommand(command, parameters);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error;
    const [field, reasons] = Object.entries(error.errors ?? {})[0]!;
    return { field, reason: reasons[0]! };
  }
  throw new Error(`${command} ${parameters} was accepted`);
}

test('parameters may be a list of API words', () => {
  const words = ['=address=10.0.0.1/30', '.proplist=address', '?type=ether', '=comment=two words'];
  expect(parseCommand('/ip/address/print', words)).toEqual(parseCommand('/ip/address/print', JSON.stringify(words)));
  expect(parseCommand('/ip/address/print', [])).toEqual({ path: '/ip/address/print', words: [] });
  for (const bad of [['address=1.2.3.4'], ['=.tag=1'], ['=a=\0'], ['=follow=']]) {
    expect(() => parseCommand('/ip/address/print', bad), JSON.stringify(bad)).toThrow(/^parameters: /);
  }
});

describe('the command path', () => {
  test.each(['/ip/address/print', '/ip address print', 'ip address print', ' /ip  address/print '])('%j is /ip/address/print', (command) =>
    expect(parseCommand(command, '').path).toBe('/ip/address/print'),
  );

  test.each([
    ['', 'must name a command'],
    ['/', 'must name a command'],
    ['/ip/address/add address=1.2.3.4/24', 'values belong in parameters'],
    ['/ip/address/print\0', 'is not part of a command path'],
    ['/quit', 'belongs to the session'],
    ['/cancel', 'belongs to the session'],
    ['/login', 'belongs to the session'],
    ['/ip/address/listen', 'never ends'],
    ['/ping', 'add "count"'],
    ['/interface/monitor-traffic', 'add "once"'],
  ])('%j is refused: %s', (command, reason) => {
    const refused = refusal(command);
    expect(refused.field).toBe('command');
    expect(refused.reason).toContain(reason);
  });

  test('an endless command is welcome once it is bounded', () => {
    expect(parseCommand('/interface/monitor-traffic', 'interface=ether1 once').words).toEqual(['=interface=ether1', '=once=']);
    expect(parseCommand('/ping', '=address=10.0.0.1\n=count=3').words).toEqual(['=address=10.0.0.1', '=count=3']);
  });
});

describe('parameters', () => {
  test.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['console words', 'address=10.0.0.1/30 interface=ether1', ['=address=10.0.0.1/30', '=interface=ether1']],
    ['a quoted value', 'comment="up \\"link\\" \\\\ 5\\_m" disabled=no', ['=comment=up "link" \\ 5 m', '=disabled=no']],
    ['UTF-8 by hex escapes', 'comment="Z\\C3\\BCrich"', ['=comment=Zürich']],
    ['an empty value', 'comment="" name=', ['=comment=', '=name=']],
    ['an = in a value', 'comment=a=b', ['=comment=a=b']],
    ['flags', 'detail count-only', ['=detail=', '=count-only=']],
    ['where', 'detail where type=ether disabled=no', ['=detail=', '?type=ether', '?disabled=no']],
    ['where with and', 'where type=ether and disabled=no && mtu=1500', ['?type=ether', '?disabled=no', '?mtu=1500']],
    ['where with or', 'where type=ether or type=vlan || type=bridge', ['?type=ether', '?type=vlan', '?type=bridge', '?#||']],
    ['where not equal', 'where interface!=ether1 comment!="a b"', ['?interface=ether1', '?#!', '?comment=a b', '?#!']],
    ['where less and greater', 'where mtu>1400 mtu<9000', ['?>mtu=1400', '?<mtu=9000']],
    ['blanks at the end of an API word', '=comment=  x  \n=disabled=no', ['=comment=  x  ', '=disabled=no']],
    ['an id', '.id=*1A disabled=yes', ['=.id=*1A', '=disabled=yes']],
    ['proplist', '.proplist=name,type', ['=.proplist=name,type']],
    ['API words', '=address=10.0.0.1/30\n=comment=a b = c', ['=address=10.0.0.1/30', '=comment=a b = c']],
    ['API words with a query', '?type=ether\n?type=vlan\n?#|\n.proplist=name', ['?type=ether', '?type=vlan', '?#|', '=.proplist=name']],
    ['an API word without value', '=detail', ['=detail=']],
    ['CR LF', '=a=1\r\n=b=2', ['=a=1', '=b=2']],
    ['a JSON array', '["=comment=two\\nlines","?type=ether"]', ['=comment=two\nlines', '?type=ether']],
  ])('%s', (_name, parameters, words) => {
    expect(parseCommand('/x/print', parameters).words).toEqual(words);
  });

  test.each([
    ['comment="open', 'not closed'],
    ['comment="a"b', 'a space is missing'],
    ['comment=a"b"', 'quote the whole value'],
    ['=', 'no API word'],
    ['=a=1\nb=2', 'no API word'],
    ['=.tag=5', '.tag'],
    ['.tag=5', '.tag'],
    ['numbers=[find name=x]', 'expressions'],
    ['name=$x', 'expressions'],
    ['a=1; b=2', 'expressions'],
    ['[find name=x]', 'not a JSON array'],
    ['[1]', 'only strings'],
    ['comment="\\zz"', 'no RouterOS escape'],
    ['follow', 'never ends'],
    ['interval=1', 'forever'],
    ['where', 'needs a condition'],
    ['where disabled', 'not supported'],
    ['where !disabled', 'not supported'],
    ['where not disabled', 'not supported'],
    ['where (type=ether)', 'not supported'],
    ['where name~"x"', ''],
    ['where address in 10.0.0.0/8', 'not supported'],
    ['where mtu>=1400', 'not supported'],
    ['where type=ether or', 'needs a condition'],
    ['where or type=ether', 'not supported'],
    ['where a=1 or b=2 and c=3', 'not both'],
    ['where a=1 or b=2 c=3', 'not both'],
    ['interface!=ether1', 'no parameter name'],
    [`=comment=${'x'.repeat(65_001)}`, 'longer than'],
  ])('%j is refused: %s', (parameters, reason) => {
    const refused = refusal('/x/print', parameters);
    expect(refused.field).toBe('parameters');
    expect(refused.reason).toContain(reason);
  });

  test.each([
    ['/system/scheduler/add', 'name=nightly interval=1d on-event=backup', '=interval=1d'],
    ['/tool/netwatch/set', 'numbers=0 interval=10s', '=interval=10s'],
    ['/ping', 'address=10.0.0.1 count=4 interval=200ms', '=interval=200ms'],
  ])('%s takes an interval, which repeats nothing there', (command, parameters, word) => {
    expect(parseCommand(command, parameters).words).toContain(word);
  });

  test('any text at all gives words or a named refusal, never another error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (parameters) => {
        try {
          for (const word of parseCommand('/x/print', parameters).words) expect(word).toMatch(/^[=?]/);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });

  test('a quoted value survives whatever it holds', () => {
    const quote = (value: string) =>
      `"${value
        .replaceAll(/["\\$?]/g, (sign) => `\\${sign}`)
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')}"`;
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0')),
        (value) => {
          expect(parseCommand('/x/set', `comment=${quote(value)}`).words).toEqual([`=comment=${value}`]);
        },
      ),
    );
  });
});

test('rows are answered in snake_case with the router’s own values', () => {
  expect(toPublicRow({ '.id': '*1', 'mac-address': 'AA:BB', DHCP: 'true', 'rx-bits-per-second': '5' })).toEqual({
    id: '*1',
    mac_address: 'AA:BB',
    dhcp: 'true',
    rx_bits_per_second: '5',
  });
  expect(toPublicRow({ 'a-b': '1', 'a.b': '2' })).toEqual({ a_b: '1', 'a.b': '2' });
});

test('rows that come in batches are one JSON array', () => {
  const rows = new RowsText();
  expect(rows.toString()).toBe('[]');
  rows.add([{ 'mac-address': 'AA:BB' }, {}]);
  rows.add([]);
  rows.add([{ comment: 'a "word"\n\u0000\ud800' }]);
  expect(JSON.parse(rows.toString())).toEqual([{ mac_address: 'AA:BB' }, {}, { comment: 'a "word"\n\u0000\ud800' }]);
});

describe('what the audit log keeps of a command', () => {
  test.each([
    ['/ip address print', '/ip/address/print'],
    ['/system/reboot', '/system/reboot'],
    // Values that somebody has written into the path: the router refuses it, and the log must not have them.
    ['/user set 0 password hunter2', '/user/set'],
    ['/ppp secret add name ann password=hunter2', '/ppp/secret/add'],
    ['/tool fetch hunter2', '/tool/fetch'],
    ['/nonsense password=hunter2', null],
    ['', null],
  ])('%j: %j', (command, kept) => expect(auditedPath(command)).toBe(kept));
});
