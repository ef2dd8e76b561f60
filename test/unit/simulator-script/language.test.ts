import { expect, test } from 'vitest';
import { createBench } from './run-script.ts';

const printed: readonly (readonly [source: string, output: string])[] = [
  [':put "hello"', 'hello'],
  ['put hello', 'hello'],
  [':put (1 + 2 * 3)', '7'],
  [':put ((1 + 2) * 3)', '9'],
  [':put (7 / 2); :put (7 % 2)', '3\n1'],
  [':put (-5 + 2)', '-3'],
  [':put (1 << 4 | 1)', '17'],
  [':put "a\\tb\\"c\\$d\\\\e\\_f\\41"', 'a\tb"c$d\\e fA'],
  [':put "gr\\C3\\BC\\C3\\9Fe"', 'grüße'],
  [':local x 5; :put "x is $x, twice $($x * 2), len $[:len $x]"', 'x is 5, twice 10, len 1'],
  [':local "my-var" 3; :put $"my-var"', '3'],
  [':put ("a" . "b" . 3)', 'ab3'],
  [':put ("abc" ~ "^a.c\\$")', 'true'],
  [':put (10.0.0.7 in 10.0.0.0/24)', 'true'],
  [':put (192.168.1.1 + 3)', '192.168.1.4'],
  [':put (1 < 2 && "b" > "a" and !(1 = 2) || false)', 'true'],
  [':put (1h30m + 15)', '01:30:15'],
  [':put 1w3d15h41m57s', '1w3d15:41:57'],
  [':put 500ms', '00:00:00.500'],
  [':put {1;2;"a"=3}', '1;2;a=3'],
  [':put ({1;2;"a"=3}->"a")', '3'],
  [':put [:len {1;2;3}]', '3'],
  [':put [:len "abc"]', '3'],
  [':put [:pick "abcdef" 1 3]', 'bc'],
  [':put [:pick {5;6;7} 1]', '6'],
  [':put [:find "abcabc" "c"]; :put [:find "abcabc" "c" 2]', '2\n5'],
  [':put [:typeof [:find "abc" "x"]]', 'nil'],
  [':put [:typeof $nosuch]', 'nothing'],
  [':foreach t in={1;"s";10.0.0.1;10.0.0.0/8;5m;true;*1A;{1;2}} do={:put [:typeof $t]}', 'num\nstr\nip\nip-prefix\ntime\nbool\nid\narray'],
  [':put ([:tonum "12"] + 1); :put [:typeof [:tonum "x"]]', '13\nnil'],
  [':put [:len [:toarray "a,b,c"]]', '3'],
  [':if (1 = 1) do={:put yes} else={:put no}', 'yes'],
  [':if (1 = 2) do={:put yes} else={:put no}', 'no'],
  [':for i from=1 to=3 do={:put $i}', '1\n2\n3'],
  [':for i from=5 to=1 step=-2 do={:put $i}', '5\n3\n1'],
  [':foreach k,v in={a=1;b=2} do={:put "$k:$v"}', 'a:1\nb:2'],
  [':foreach i in=1,2 do={:put $i}', '1\n2'],
  [':local i 0; :while ($i < 3) do={:set i ($i + 1)}; :put $i', '3'],
  [':local i 0; :do {:set i ($i + 1)} while=($i < 4); :put $i', '4'],
  [':local f do={:return ($a + $1)}; :put [$f 4 a=3]', '7'],
  [':local a {x=1}; :set ($a->"y") 2; :put $a', 'x=1;y=2'],
  [':do {:error "bad"} on-error={:put caught}; :put after', 'caught\nafter'],
  [':onerror e in={:error "bad"} do={:put "got $e"}', 'got bad (:error; line 1)'],
  ['# comment\n:put 1 \\\n\n:put \\\n  2; # more\n:put 3', '1\n2\n3'],
  [':put "one \\\n   line"', 'one line'],
  ['{ :local x 1; :put $x }\n:put [:typeof $x]', '1\nnothing'],
  [':global g 5; :local f do={:global g; :return $g}; :put [$f]', '5'],
  [':local f [:parse ":return (1+1)"]; :put [$f]', '2'],
  [':put [:serialize value={a=1;b="x"} to=json]', '{"a":1,"b":"x"}'],
  [':put ([:deserialize value="{\\"a\\":{\\"b\\":7}}" from=json]->"a"->"b")', '7'],
  [':local a {{n=1};{n=2}}; :foreach r in=$a do={:put ($r->"n")}', '1\n2'],
];

test.each(printed)('%s', async (source, output) => {
  expect((await createBench().run(source)).output).toBe(`${output}\n`);
});

test('a top-level :return is the value of the script', async () => {
  expect(await createBench().run(':put a; :return 5; :put b')).toEqual({ output: 'a\n', returned: '5' });
});

test('a global outlives its script, a local does not, and a script has to ask for it', async () => {
  const bench = createBench();
  await bench.run(':global kept 1; :local lost 2');
  expect((await bench.run(':put "$kept.$lost"')).output).toBe('.\n');
  expect((await bench.run(':global kept; :put $kept')).output).toBe('1\n');
  expect((await bench.run(':put $kept', { origin: 'ssh' })).output).toBe('1\n');
});

test('everything before an uncaught error stays done, and the error says where', async () => {
  const result = await createBench().run(':put 1\n:error "no luck"\n:put 2');
  expect(result).toEqual({ output: '1\nno luck (:error; line 2)\n', error: 'no luck', printed: 'no luck (:error; line 2)' });
});

test('before 7.13 there is no :onerror, before 7.8 no place behind an error', async () => {
  const bench = createBench({ version: '6.49.10' });
  expect((await bench.run(':onerror e in={} do={}')).output).toBe('bad command name onerror (line 1 column 2)\n');
  expect((await bench.run(':error "x"')).output).toBe('x\n');
});

test(':delay ends when the session goes away and no on-error hides it', async () => {
  const controller = new AbortController();
  const bench = createBench({
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        queueMicrotask(() => controller.abort());
      }),
  });
  const result = await bench.run(':do {:delay 1h} on-error={:put caught}; :put after', { signal: controller.signal });
  expect(result).toEqual({ output: 'interrupted\n', error: 'interrupted' });
});

test('an endless loop leaves the event loop its turns and ends with its session', async () => {
  const controller = new AbortController();
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    if (turns === 5) controller.abort();
  }, 1);
  const result = await createBench().run(':while (true) do={}', { signal: controller.signal });
  clearInterval(timer);
  expect(result.error).toBe('interrupted');
});

test('a function that calls itself forever is stopped', async () => {
  const result = await createBench().run(':global f do={:global f; $f}; $f');
  expect(result.error).toBe('maximum recursion depth reached');
});

test('a text cannot grow without end', async () => {
  const result = await createBench().run(':local s "xxxxxxxxxxxxxxxx"; :while (true) do={:set s ($s . $s)}');
  expect(result.error).toBe('out of memory');
});
