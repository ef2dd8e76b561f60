import { describe, expect, it } from 'vitest';
import { parseAsValue, toConsole } from '../../../agent/routers/console-commands.ts';

const line = (path: string, ...words: string[]): string => toConsole({ path, words }, 'N').line;

describe('an API command as a console line', () => {
  it.each([
    ['/ip/address/print', [], ':put [/ip address print as-value]; :put "N"'],
    [
      '/ip/address/print',
      ['?interface=ether1', '?=disabled=no'],
      ':put [/ip address print as-value where interface="ether1" and disabled=no]; :put "N"',
    ],
    ['/ip/address/print', ['=detail=', '.proplist=address'], ':put [/ip address print detail as-value]; :put "N"'],
    [
      '/ip/address/add',
      ['=address=10.0.0.1/30', '=comment=a "b"'],
      ':put [/ip address add address="10.0.0.1/30" comment="a \\22b\\22"]; :put "N"',
    ],
    ['/ip/address/set', ['=.id=*1A', '=disabled=yes'], '/ip address set numbers=*1A disabled="yes"; :put "N"'],
    ['/ip/address/remove', ['=.id=*1,*2'], '/ip address remove numbers=*1,*2; :put "N"'],
    ['/user/remove', ['=.id=bob; /system reboot'], '/user remove numbers="bob; /system reboot"; :put "N"'],
    ['/system/reboot', [], '/system reboot; :put "N"'],
    ['/execute', ['=script=/system script run x'], ':execute script="/system script run x"; :put "N"'],
    ['/ping', ['=address=10.0.0.1', '=count=1'], '/ping address="10.0.0.1" count="1"; :put "N"'],
    ['/log/info', ['=message=what? "$x"'], '/log info message="what\\3F \\22\\24x\\22"; :put "N"'],
  ])('%s %j', (path, words, expected) => {
    expect(line(path, ...words)).toBe(expected);
  });

  it.each([
    ['/ip/address/print', '?#|', 'unsupported'],
    ['/ip/address/print', '?>address=1', 'unsupported'],
    ['/ip/address/print', '=follow=', 'unsupported'],
    ['/interface/listen', '=.proplist=name', 'unsupported'],
    ['/ip/address/add', '?x=1', 'unsupported'],
    ['/ip/address/add', '=a b=1', 'unsupported'],
    ['/ip/address;reboot/print', '=detail=', 'invalid'],
  ])('%s %s is %s', (path, word, code) => {
    expect(() => line(path, word)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the output of a console line', () => {
  const { read } = toConsole({ path: '/ip/address/print', words: [] }, 'N');

  it('that ends with the nonce is the answer', () => {
    expect(read('.id=*1;address=10.0.0.1/24;comment=a;b;.id=*B;address=10.0.0.2/24\nN\n')).toEqual({
      rows: [
        { '.id': '*1', address: '10.0.0.1/24', comment: 'a;b' },
        { '.id': '*B', address: '10.0.0.2/24' },
      ],
    });
    expect(read('\nN\n')).toEqual({ rows: [] });
  });

  it.each(['bad command name nonsense (line 1 column 7)\n', 'failure: already have such address', 'N but more', ''])(
    '%j is a refusal',
    (output) => {
      expect(() => read(output)).toThrow(expect.objectContaining({ code: 'rejected' }));
    },
  );

  it('of a menu with one record has no ids', () => {
    expect(parseAsValue('name=lift=north')).toEqual([{ name: 'lift=north' }]);
  });
});
