import { expect, it } from 'vitest';
import { overview as clientOverview, commandHelp as clientHelp } from '../../client/cli/help.ts';
import { commandGroups, commands as clientCommands } from '../../client/cli/commands.ts';
import { helpRows, sentence, wrapText } from '../../runtime/help-rows.ts';
import { commands as serverCommands } from '../../server/cli/commands.ts';
import { overview as serverOverview, commandHelp as serverHelp, doctorHelp, serveHelp } from '../../server/cli/help.ts';

const WIDTH = 80;

it('aligns the descriptions and continues a long one below itself', () => {
  const [short, long] = helpRows([
    ['run', 'run it'],
    ['remove', `${'word '.repeat(16)}end`],
  ]);
  expect(short).toBe('  run     run it\n');
  expect(long).toBe(`  remove  ${'word '.repeat(14).trim()}\n          word word end\n`);
});

it('gives a word that is longer than the width a line of its own', () => {
  expect(wrapText('a bcdefgh i', 4)).toEqual(['a', 'bcdefgh', 'i']);
});

it('makes a sentence of a summary', () => {
  expect(sentence('list the routers')).toBe('List the routers.');
});

it('keeps every help text within 80 columns, except examples and usage lines, which are copied whole', () => {
  const texts = [
    clientOverview(commandGroups),
    serverOverview(serverCommands),
    doctorHelp(),
    serveHelp(),
    ...clientCommands.map((command) => clientHelp(command)),
    ...serverCommands.map(serverHelp),
  ];
  const tooLong = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.length > WIDTH && !/^(?:Usage:| {2}signalbox )/.test(line));
  expect(tooLong).toEqual([]);
});
