import type { Command, Option } from './command.ts';
import { COMMON } from './parse.ts';

const EXIT_CODES =
  'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not connected, 4 the outcome is unknown, 5 not authorised, 130 Ctrl-C.\n';

/** `signalbox job`: what begins with that word. */
export function familyHelp(word: string, commands: readonly Command[]): string {
  return `Usage: signalbox ${word} COMMAND [ARGUMENTS]\n\nCommands:\n${commandList(commands)}\nsignalbox COMMAND --help says more.\n`;
}

function commandList(commands: readonly Pick<Command, 'name' | 'summary'>[]): string {
  return commands.map(({ name, summary }) => `  ${name.padEnd(17)} ${summary}\n`).join('');
}

export function overview(commands: readonly Command[]): string {
  return `Usage: signalbox COMMAND [ARGUMENTS]

Work with routers through a control plane, from anywhere. ROUTER is an id or a name that is unique in the team.

Commands:
${commandList(commands)}
Options of every command:
${optionLines(COMMON)}
SIGNALBOX_SERVER and SIGNALBOX_KEY in the environment do the same as --server and --key.
${EXIT_CODES}`;
}

/** @param family commands whose names begin with this one's */
export function commandHelp(command: Command, family: readonly Command[] = []): string {
  const { name, summary, positionals, options, examples } = command;
  const required = Object.entries(options).filter(([, option]) => option.required);
  const line = [name, ...positionals, ...required.map(([option, { value }]) => `--${option} ${value}`), '[OPTIONS]'].join(' ');
  const related = family.length === 0 ? '' : `\nCommands:\n${commandList(family)}`;
  return `Usage: signalbox ${line}

${summary}
${related}
Options:
${optionLines({ ...options, ...COMMON })}
Examples:
${examples.map((example) => `  signalbox ${example}\n`).join('')}
${EXIT_CODES}`;
}

function optionLines(options: Readonly<Record<string, Option>>): string {
  return Object.entries(options)
    .map(([name, { value, help }]) => `  ${`--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(28)} ${help}\n`)
    .join('');
}
