import type { Command, Option } from './command.ts';
import { COMMON } from './parse.ts';

/** `signalbox login --help` and the first line of the list. */
export const LOGIN = { name: 'login', summary: 'keep a server and an API key in the profile' };

/** `signalbox job`: what begins with that word. */
export function familyHelp(word: string, commands: readonly Command[]): string {
  return `Usage: signalbox ${word} COMMAND [ARGUMENTS]\n\nCommands:\n${commandList(commands)}\nsignalbox COMMAND --help says more.\n`;
}

function commandList(commands: readonly Pick<Command, 'name' | 'summary'>[]): string {
  return commands.map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}\n`).join('');
}

export function overview(commands: readonly Command[]): string {
  return `Usage: signalbox COMMAND [ARGUMENTS]

Work with routers through a control plane, from anywhere. ROUTER is an id or a name that is unique in the team.

Commands:
${commandList([LOGIN, ...commands])}
Options of every command:
${optionLines(COMMON)}
SIGNALBOX_SERVER and SIGNALBOX_KEY in the environment do the same as --server and --key.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not connected, 4 the outcome is unknown, 5 not authorised.
`;
}

export function commandHelp({ name, summary, positionals, options }: Pick<Command, 'name' | 'summary' | 'positionals' | 'options'>): string {
  const required = Object.entries(options).filter(([, option]) => option.required);
  const line = [name, ...positionals, ...required.map(([option, { value }]) => `--${option} ${value}`), '[OPTIONS]'].join(' ');
  return `Usage: signalbox ${line}\n\n${summary}\n\nOptions:\n${optionLines({ ...options, ...COMMON })}`;
}

function optionLines(options: Readonly<Record<string, Option>>): string {
  return Object.entries(options)
    .map(([name, { value, help }]) => `  ${`--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(28)} ${help}\n`)
    .join('');
}
