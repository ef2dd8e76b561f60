import { beforeEach, expect, test } from 'vitest';
import { createBench, type Bench } from './run-script.ts';

let bench: Bench;

beforeEach(async () => {
  bench = createBench();
  await bench.run('/interface add name=ether1 type=ether mtu=1500; /interface add name=ether2 type=ether mtu=9000 disabled=yes');
  await bench.run(
    '/ip address add address=10.0.0.1/24 interface=ether1 comment="up link"; /ip/address/add address=10.0.1.1/24 interface=ether2',
  );
});

const outputs: readonly (readonly [source: string, output: string])[] = [
  [':put [/ip address get [find interface=ether1] address]', '10.0.0.1/24'],
  [':put [/ip address get 1 address]', '10.0.1.1/24'],
  [':put [/ip/address/find]', '*3;*4'],
  [':put [:len [/ip address find where address~"^10[.]0[.]" and interface!=ether2]]', '1'],
  [':put [/interface get ether2 mtu]', '9000'],
  [':put [/interface find where disabled]', '*2'],
  [':put [/interface find where !disabled mtu=1500]', '*1'],
  [':put [/interface find mtu>2000]', '*2'],
  [':local n ether2; :put [/interface find name=$n]', '*2'],
  // The famous trap: a variable called like a property is hidden by it, so this finds everything.
  [':local name ether2; :put [/interface find name=$name]', '*1;*2'],
  [':put [/ip address find comment="up link"]', '*3'],
  [':put [/ip address find comment=""]', '*4'],
  ['/ip address\n:put [find]', '*3;*4'],
  ['/ip address set [find interface=ether1] comment=new; :put [/ip address get *3 comment]', 'new'],
  ['/ip address set 0,1 comment=both; :put [:len [/ip address find comment=both]]', '2'],
  ['/ip address set [find interface=ether1] !comment; :put [:typeof [/ip address get *3 comment]]', 'nothing'],
  ['/ip address remove [find interface=nosuch]; /ip address remove [find]; :put [:len [/ip address find]]', '0'],
  ['/interface disable ether1; :put [/interface get ether1 disabled]', 'true'],
  ['/ip address print count-only', '2'],
  [':put [/ip address print count-only where interface=ether1]', '1'],
  [':put [/ip address add address=10.9.9.9/32 interface=ether1]', '*5'],
  [':foreach a in=[/ip address print as-value] do={:put ($a->"address")}', '10.0.0.1/24\n10.0.1.1/24'],
  [':put [/system identity get name]', 'MikroTik'],
  ['/system identity set name="Büro 7"; :put [/system/identity/get name]', 'Büro 7'],
  ['/system identity print', '  name: MikroTik'],
  [':put ([/system resource get uptime] > 1d)', 'true'],
  ['/system\nidentity\n:put [get name]\n..\nidentity print', 'MikroTik\n  name: MikroTik'],
  ['/ip address { :put [find] }; :put [:typeof [/interface find]]', '*3;*4\narray'],
  ['/ip/address print terse', ' 0   comment=up link address=10.0.0.1/24 interface=ether1\n 1   address=10.0.1.1/24 interface=ether2'],
  ['/interface print terse where name=ether2', ' 1 X   name=ether2 type=ether mtu=9000'],
  ['/export', '# export\n/ip address'],
  ['/ip address add address=10.0.0.1/24 interface=ether1', 'failure: already have such address'],
  [':do {/ip address add address=10.0.0.1/24 interface=ether1} on-error={:put refused}', 'refused'],
  ['/ip address get 7 address', 'no such item'],
  ['/system scheduler add name=x on-event={:put "a b"; :put 1}; :put [/system scheduler get x on-event]', ':put "a b"; :put 1'],
];

test.each(outputs)('%s', async (source, output) => {
  expect((await bench.run(source)).output).toBe(`${output}\n`);
});

test('log commands reach the log', async () => {
  await bench.run(':log info "one"; /log warning two; :log error ("three" . 3)');
  expect(bench.menus.logged).toEqual(['info one', 'warning two', 'error three3']);
});

test('a refused permission names the command and the line', async () => {
  const result = await bench.run('\n/user add name=x group=full', { policies: new Set(['read']) });
  expect(result.output).toBe('not enough permissions (9) (/user/add; line 2)\n');
});

test('detail prints names in quotes and flags as letters', async () => {
  const { output } = await bench.run('/interface print detail without-paging');
  expect(output).toBe(
    [
      'Flags: D - dynamic, X - disabled; R - running; S - slave',
      ' 0     name="ether1" type="ether" mtu=1500',
      '',
      ' 1 X   name="ether2" type="ether" mtu=9000',
      '',
    ].join('\n'),
  );
});

test('print file= writes a file and shows nothing', async () => {
  const files: string[] = [];
  const bench = createBench({ saveFile: (name, contents) => files.push(`${name}: ${contents}`) });
  expect((await bench.run('/system identity print file=who')).output).toBe('');
  expect(files).toEqual(['who.txt:   name: MikroTik\r\n']);
});
