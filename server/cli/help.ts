import type { Command } from './command.ts';

const SERVE = { name: 'serve', summary: 'run the control plane' };
const DOCTOR = { name: 'doctor', summary: 'check what the control plane needs, and change nothing' };

/** `signalbox --help`. */
export function overview(commands: readonly Command[]): string {
  return `Usage: signalbox COMMAND [ARGUMENTS]

The control plane and its administration, on the server's own machine. Settings come from
SIGNALBOX_* in the environment or the YAML file that SIGNALBOX_CONFIG names.

Commands:
${lines([SERVE, DOCTOR, ...commands])}

Commands for API users, which work from anywhere: login, routers, router, router-moves, router-move, agent, run, faults,
devices, device, job, campaign, backups, backup, forward, events, agents, members, keys, sites, audit, completion. Each
says with --help what it takes.

signalbox COMMAND --help says more. Every command but serve takes --json and then prints one JSON object.
signalbox --version names the version. Exit codes: 0 done, 1 failed, 2 wrong usage.
`;
}

/** `signalbox team`: what begins with that word. */
export function familyHelp(word: string, commands: readonly Command[]): string {
  return `Usage: signalbox ${word} COMMAND [ARGUMENTS]\n\nCommands:\n${lines(commands)}\n\nsignalbox COMMAND --help says more.\n`;
}

function lines(commands: readonly Pick<Command, 'name' | 'summary'>[]): string {
  return commands.map(({ name, summary }) => `  ${name.padEnd(22)} ${summary}`).join('\n');
}

/** `signalbox serve --help`. */
export function serveHelp(): string {
  return `Usage: signalbox serve

Runs the control plane until SIGTERM or SIGINT, then finishes what is under way. The database is made or brought
up to date at the start.
`;
}

/** `signalbox doctor --help`. */
export function doctorHelp(): string {
  return `Usage: signalbox doctor [--json]

Checks configuration, database, disk, clock, secret key, certificate, ports and public URL, with the settings that serve
would use, and changes nothing. It may run beside the control plane. A line is ok, WARN (it works, but may not be what you
mean) or FAIL. Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.
`;
}

/** `signalbox team create --help`. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options);
  const required = options.filter(([, option]) => option.required).map(([name, { value }]) => `--${name} ${value}`);
  const line = [command.name, ...command.positionals, ...required, '[OPTIONS]'].join(' ');
  const rows = [...options.map(([name, { value, help }]) => [`--${name} ${value}`.trim(), help]), ['--json', 'print one JSON object']];
  const table = rows.map(([left, right]) => `  ${left!.padEnd(26)} ${right}`).join('\n');
  return `Usage: signalbox ${line}\n\n${command.summary}\n\nOptions:\n${table}\n`;
}
