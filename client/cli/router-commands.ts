import type { Command } from './command.ts';
import { routerList } from './router-list-command.ts';
import { splitWords } from './command-words.ts';
import { printableLines, rowsText } from './text.ts';

const run: Command = {
  name: 'run',
  summary: 'run a command on a router and print the answer',
  positionals: ['ROUTER', 'COMMAND', '[PARAMETERS…]'],
  options: { 'timeout-seconds': { value: 'N', help: 'longest wait for the router, up to 120; default: 30' } },
  examples: [
    'run edge-berlin /ip/address/print',
    'run edge-berlin /ip address print',
    'run edge-berlin /interface/print where type=ether',
    'run edge-berlin /ip/address/add address=10.0.0.1/24 interface=ether2',
    'run edge-berlin /export terse',
  ],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const seconds = input.number('timeout-seconds');
    const id = input.at(0);
    const { command, parameters } = splitWords(input.from(1));
    const body = { command, parameters: joinParameters(parameters), ...(seconds === undefined ? {} : { timeout_seconds: seconds }) };
    const { data } = await signalbox.call('runCommand', { path: { router_id: id }, body }, { signal });
    return { json: data, text: isText(data) ? printableLines(data.map(({ line }) => `${line}\n`).join('')) : rowsText(data, columns) };
  },
};

const ping: Command = {
  name: 'ping',
  summary: 'measure the round trip to the API of a router',
  positionals: ['ROUTER'],
  options: { count: { value: 'N', help: 'probes, 1 to 10; default: 3' } },
  examples: ['ping edge-berlin', 'ping edge-berlin --count 10 --json'],
  async run({ signalbox, surroundings }, input) {
    const count = input.number('count');
    const body = count === undefined ? {} : { count };
    const { data } = await signalbox.call('pingRouter', { path: { router_id: input.at(0) }, body }, surroundings);
    const { sent, received, min_ms: least, avg_ms: mean, max_ms: most } = data;
    return { json: data, text: `${received} of ${sent} answers, round trip min/avg/max ${least}/${mean}/${most} ms\n` };
  },
};

/** An export arrives as one row per line. */
function isText(rows: readonly Record<string, string>[]): boolean {
  return rows.length > 0 && rows.every((row) => Object.keys(row).join() === 'line');
}

/**
 * Joins the words that the shell has split, in the form that the server reads. API words go one to a line. In console words,
 * a value with a space gets back the quotes that the shell removed.
 */
export function joinParameters(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? '';
  if (words.every((word) => /^[=?.#]/.test(word))) return words.join('\n');
  return words.map(quoteAgain).join(' ');
}

function quoteAgain(word: string): string {
  const [, name, value] = /^([^=\s"]+)=(.*)$/s.exec(word) ?? [];
  if (name === undefined || value === undefined || /^"|^[^\s";\\]*$/.test(value)) return word;
  return `${name}="${value.replaceAll(/["\\$?]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

export const routerCommands: readonly Command[] = [routerList, run, ping];
