import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createBench } from './run-script.ts';
import { createScriptEngine } from '../../simulator/script/engine.ts';
import { schemaMenus } from './schema-menus.ts';
import { createSession } from './run-script.ts';

const refused: readonly (readonly [source: string, message: string])[] = [
  ['foo', 'bad command name foo (line 1 column 1)'],
  ['/zzz qqq print', 'bad command name zzz (line 1 column 2)'],
  [':put 1\n  :nosuch 2', 'bad command name nosuch (line 2 column 4)'],
  ['/ip address add foo=1', 'bad parameter foo (line 1 column 20)'],
  ['/ip address add address=1.1.1.1/32 foo=1', 'bad parameter foo (line 1 column 36)'],
  ['/export hide-sensitive=yes', 'expected end of command (line 1 column 23)'],
  ['/export show-sensitive', 'expected end of command (line 1 column 9)'],
  [':put 1 2', 'expected end of command (line 1 column 8)'],
  [':put "é" 2', 'expected end of command (line 1 column 11)'],
  [':set undeclared 1', 'syntax error (line 1 column 6)'],
  [':put (1 + )', 'syntax error (line 1 column 11)'],
  [':put "open', 'syntax error (line 1 column 6)'],
  ['/ip address print where comment~', 'syntax error (line 1 column 33)'],
  ['/ip address print where comment~ ;', 'syntax error (line 1 column 34)'],
  [':put [/ip address find comment~]', 'syntax error (line 1 column 32)'],
  [':put [/ip address find (comment~)]', 'syntax error (line 1 column 33)'],
  ['/ip address print where comment>', 'syntax error (line 1 column 33)'],
  [':put (1', 'expected closing parenthesis (line 1 column 8)'],
  [':if (true) do={:put 1', 'expected closing brace (line 1 column 22)'],
  [':put {)}', 'syntax error (line 1 column 7)'],
  [':put 1 }', 'expected end of command (line 1 column 8)'],
  [': put', 'expected command name (line 1 column 2)'],
];

test.each(refused)('%s', async (source, message) => {
  const bench = createBench();
  const result = await bench.run(source);
  expect(result).toEqual({ output: `${message}\n`, error: message, syntaxError: true });
});

test('a source that does not parse runs nothing of itself', async () => {
  const bench = createBench();
  await bench.run('/ip address add address=10.0.0.1/24 interface=ether1\n:nosuch');
  expect((await bench.run('/ip address print count-only')).output).toBe('0\n');
});

test('on-error does not catch an unknown command: it is no run-time error', async () => {
  expect((await createBench().run(':do {/nosuch} on-error={:put caught}')).syntaxError).toBe(true);
});

test('before 7.23 an unknown parameter is where the command should have ended', async () => {
  const { output } = await createBench({ version: '7.20.8' }).run('/ip address add foo=1');
  expect(output).toBe('expected end of command (line 1 column 17)\n');
});

test('deep nesting is refused, not a stack overflow', async () => {
  const { syntaxError } = await createBench().run(`:put ${'('.repeat(50_000)}`);
  expect(syntaxError).toBe(true);
});

const parsed: readonly (readonly [source: string, value: string])[] = [
  ['/ip addr print', '(evl /ip/address/print)'],
  [':put hello', '(evl /putmessage=hello)'],
  [':local Expected [:tostr $3]', '(evl /localname=$Expected;value=(evl (evl /tostrvalue=$3)))'],
  ['/ip address print bogus=1', '(evl bad parameter bogus (line 1 column 24) /ip/address/print)'],
  ['/zzz qqq print', '(<%% bad command name zzz (line 1 column 2) zzz;qqq;print)'],
];

test.each(parsed)(':parse of %s', async (source, value) => {
  expect((await createBench().run(`:put [:parse "${source.replaceAll('$', '\\$')}"]`)).output).toBe(`${value}\n`);
});

// Recorded on 7.23.3; outside the project, read in place.
const samples = new URL('../../../../shared/routeros/samples/', import.meta.url);
const oracle = new URL('cli-text/parse-oracle.v7.23.json', samples);
const schema = new URL('schema/inspect-subset-7.23.3.json', samples);

interface OracleRow {
  readonly input: string;
  readonly raw: string;
  readonly corpusScript?: string;
}

test.skipIf(!existsSync(oracle))('the recorded answers of :parse', async () => {
  const recorded = JSON.parse(readFileSync(oracle, 'utf8')) as Record<string, OracleRow[]>;
  const rows = ['canonicalAccepted', 'badParameter', 'badCommandName', 'syntaxExpected']
    .flatMap((name) => recorded[name] ?? [])
    .filter((row) => row.corpusScript === undefined);
  const engine = createScriptEngine(schemaMenus(JSON.parse(readFileSync(schema, 'utf8'))), { version: '7.23.3' });
  const misses: string[] = [];
  for (const row of rows) {
    let output = '';
    await engine.run(`:put [:parse "${row.input}"]`, createSession(), (text) => {
      output += text;
    });
    if (output !== `${row.raw}\r\n`) misses.push(`${row.input}\n  recorded ${row.raw}\n  printed  ${output.trim()}`);
  }
  process.stdout.write(`:parse oracle: ${rows.length - misses.length} of ${rows.length} recorded answers match\n${misses.join('\n')}\n`);
  expect(rows.length - misses.length).toBeGreaterThanOrEqual(13);
});

if (!existsSync(oracle)) process.stdout.write(':parse oracle skipped: the recorded samples are not here\n');
