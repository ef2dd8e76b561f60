import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commands } from '../../../client/cli/commands.ts';
import { completionScript } from '../../../client/cli/completion.ts';
import { commandHelp } from '../../../client/cli/help.ts';
import { parseCommandLine } from '../../../client/cli/parse.ts';
import { runCli } from '../../../client/cli/run.ts';
import { overview } from '../../../server/cli/help.ts';

const run = promisify(execFile);

/** As a shell splits it; the examples quote with double quotes only. */
function split(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

async function help(...words: string[]): Promise<string> {
  let text = '';
  const nothing = { stderr: () => undefined, readInput: async () => '', env: {}, signal: new AbortController().signal, columns: 100 };
  expect(await runCli([...words, '--help'], { ...nothing, stdout: (part) => void (text += part) })).toBe(0);
  return text;
}

describe.each(commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  test('has examples that its own command line takes', () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      const words = split(example);
      expect(words.slice(0, name.split(' ').length).join(' ')).toBe(name);
      expect(() => parseCommandLine(command, words.slice(name.split(' ').length))).not.toThrow();
    }
  });

  test('shows its examples and the exit codes in its help', () => {
    const text = commandHelp(command);
    for (const example of command.examples) expect(text).toContain(`  signalbox ${example}\n`);
    expect(text).toContain('Exit codes: 0 done, 1 failed');
  });
});

test('a command that other commands begin with names them in its help', async () => {
  const text = await help('forward');
  for (const name of ['forward open', 'forward list', 'forward close']) expect(text).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(text).toContain('--listen ADDRESS:PORT');
});

test('the program knows the first word of every command, and the overview of the administration names it', async () => {
  const program = await readFile(new URL('../../../bin/signalbox.mjs', import.meta.url), 'utf8');
  const known = /new Set\(\[([^\]]+)\]\)/.exec(program)![1]!.match(/[a-z-]+/g)!;
  const words = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))];
  expect([...known].sort()).toEqual([...words].sort());
  for (const word of words) expect(overview([])).toMatch(new RegExp(`\\b${word}\\b`));
});

test('the help of login says where a key comes from', async () => {
  const text = await help('login');
  expect(text).toContain('Settings, API keys');
  expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
});

describe('completion', () => {
  const bash = async (...typed: string[]): Promise<string[]> => {
    const words = ['signalbox', ...typed].map((word) => `'${word}'`).join(' ');
    const script = `${completionScript('bash', commands)!}
      COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await run('bash', ['-c', script])).stdout.split('\n').filter(Boolean);
  };

  test.each([
    [['cam'], ['campaign']],
    [['forward', 'o'], ['open']],
    [['forward', '--li'], ['--listen']],
    [['forward', 'open', 'edge', '--idle'], ['--idle-seconds']],
    [
      ['job', 'submit', 'edge', 'x', '--no'],
      ['--no-acknowledgement', '--notify-url'],
    ],
    [['routers', '--js'], ['--json']],
  ])('bash completes %j', async (typed, expected) => {
    expect((await bash(...typed)).sort()).toEqual(expected);
  });

  test.each(['bash', 'zsh', 'fish'])('the script for %s is read by that shell without an error', async (shell) => {
    const installed = await run('sh', ['-c', `command -v ${shell}`]).then(
      () => true,
      () => false,
    );
    // zsh and fish are no part of a base system; CI installs them.
    if (!installed && process.env['CI'] === undefined) return;
    const script = completionScript(shell, commands)!;
    const check = shell === 'zsh' ? ['-f', '-c', `autoload -Uz compinit; compinit -u -D; ${script}`] : ['-c', script];
    expect((await run(shell, check)).stderr).toBe('');
  });

  test('fish offers the words of a command', async () => {
    const installed = await run('sh', ['-c', 'command -v fish']).then(
      () => true,
      () => false,
    );
    if (!installed && process.env['CI'] === undefined) return;
    const script = `${completionScript('fish', commands)!}\ncomplete -C 'signalbox forward '\necho ==\ncomplete -C 'signalbox cam'`;
    const { stdout } = await run('fish', ['--no-config', '-c', script]);
    expect(stdout.split('==\n')[0]!.split(/\s+/)).toEqual(expect.arrayContaining(['open', 'list', 'close']));
    expect(stdout.split('==\n')[1]).toContain('campaign');
  });

  test('another shell is refused', () => {
    expect(completionScript('csh', commands)).toBeUndefined();
    expect(completionScript('toString', commands)).toBeUndefined();
  });
});
