import { helpRows, sentence } from '../../runtime/help-rows.ts';
import type { Command, Option } from './command.ts';
import type { CommandGroup } from './commands.ts';
import { COMMON } from './parse.ts';

const EXIT_CODES = `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not connected, 4 outcome unknown,
            5 not authorised, 130 ended by Ctrl-C.
`;

/** `signalbox job`: the commands that begin with that word. */
export function familyHelp(word: string, commands: readonly Command[]): string {
  return `Usage: signalbox ${word} COMMAND [ARGUMENTS]

Commands:
${commandRows(commands).join('')}
signalbox COMMAND --help explains a command.
`;
}

function commandRows(commands: readonly Command[]): string[] {
  return helpRows(commands.map(({ name, summary }) => [name, summary]));
}

export function overview(groups: readonly CommandGroup[]): string {
  // One call for all groups aligns their columns.
  const rows = commandRows(groups.flatMap(({ commands }) => commands));
  const lists = groups.map(({ title, commands }) => `\n${title}:\n${rows.splice(0, commands.length).join('')}`);
  return `Usage: signalbox COMMAND [ARGUMENTS]

Work with routers through a control plane, from any machine.
ROUTER is the id of a router, or its identity if that is unique in the team.
${lists.join('')}
Options of every command:
${optionRows(COMMON)}
SIGNALBOX_SERVER and SIGNALBOX_KEY in the environment replace --server, --key.
signalbox COMMAND --help explains a command.

${EXIT_CODES}`;
}

/** @param family commands whose names begin with this one's */
export function commandHelp(command: Command, family: readonly Command[] = []): string {
  const { name, summary, about, positionals, options, examples } = command;
  const required = Object.entries(options).filter(([, option]) => option.required);
  const line = [name, ...positionals, ...required.map(([option, { value }]) => `--${option} ${value}`), '[OPTIONS]'].join(' ');
  const related = family.length === 0 ? '' : `\nCommands:\n${commandRows(family).join('')}`;
  const own = Object.keys(options).length === 0 ? '' : `\nOptions:\n${optionRows(options)}`;
  return `Usage: signalbox ${line}

${sentence(summary)}
${about === undefined ? '' : `\n${about}\n`}${related}${own}
Options of every command:
${optionRows(COMMON)}
Examples:
${examples.map((example) => `  signalbox ${example}\n`).join('')}
${EXIT_CODES}`;
}

function optionRows(options: Readonly<Record<string, Option>>): string {
  return helpRows(
    Object.entries(options).map(([name, { value, help }]) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help]),
  ).join('');
}
