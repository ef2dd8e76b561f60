import { helpRows, sentence } from '../../runtime/help-rows.ts';
import type { Command } from './command.ts';

const SERVE = { name: 'serve', summary: 'run the control plane' };
const DOCTOR = { name: 'doctor', summary: 'check what the control plane needs, without changes' };

/** `signalbox --help`. */
export function overview(commands: readonly Command[]): string {
  return `Usage: signalbox COMMAND [ARGUMENTS]

Run and administer the control plane, on the server's own machine. Settings come
from SIGNALBOX_* in the environment or from the YAML file in SIGNALBOX_CONFIG.

Commands:
${rows([SERVE, DOCTOR, ...commands])}
Commands for API users, from any machine: login, status, top, history, sessions,
routers, router, router-moves, router-move, agent, run, ping, faults, devices,
device, job, campaign, backups, backup, forward, terminal, terminals, notify,
events, agents, members, keys, sites, audit, completion.

signalbox COMMAND --help explains a command.
signalbox --version prints the version.
Every command except serve takes --json and then prints one JSON object.
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;
}

/** `signalbox team`: the commands that begin with that word. */
export function familyHelp(word: string, commands: readonly Command[]): string {
  return `Usage: signalbox ${word} COMMAND [ARGUMENTS]

Commands:
${rows(commands)}
signalbox COMMAND --help explains a command.
`;
}

function rows(commands: readonly Pick<Command, 'name' | 'summary'>[]): string {
  return helpRows(commands.map(({ name, summary }) => [name, summary])).join('');
}

/** Those that a first start needs, with their defaults. A test compares them with docs/settings.md. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['SIGNALBOX_LISTEN', 'address:port of web application, API and agents; default: 127.0.0.1:8080, which only this machine reaches'],
  ['SIGNALBOX_PUBLIC_URL', 'URL under which people and agents reach it, and the only one for signing in; default: from SIGNALBOX_LISTEN'],
  ['SIGNALBOX_DATABASE_URL', 'sqlite:FILE or postgres://…; default: sqlite:./data/signalbox.db'],
  ['SIGNALBOX_SECRET_KEY_FILE', 'key of what is encrypted in the database; default: ./data/secret.key'],
  ['SIGNALBOX_TLS_CERT_FILE', 'certificate, with SIGNALBOX_TLS_KEY_FILE; default: none, which is plain HTTP'],
  ['SIGNALBOX_SANDBOX_LISTEN', 'address:port of the plant demonstration, empty for none; default: 127.0.0.1:8081'],
];

/** `signalbox serve --help`. */
export function serveHelp(): string {
  return `Usage: signalbox serve

Run the control plane until SIGTERM or SIGINT, then finish running requests.
The start creates the database or migrates it to this version. On a terminal it
says which address to open in a browser.

It has no options: settings come from the environment, or from the YAML file in
SIGNALBOX_CONFIG with the same names. The most important ones:

${helpRows(SETTINGS).join('')}
To serve at another port: SIGNALBOX_LISTEN=127.0.0.1:9000 signalbox serve
signalbox doctor checks them. docs/settings.md has all of them.
`;
}

/** `signalbox doctor --help`. */
export function doctorHelp(): string {
  return `Usage: signalbox doctor [--json]

Check configuration, database, disk, clock, secret key, certificate, ports and
public URL with the settings of serve. Nothing is changed, and the control plane
may be running.

A line is ok, WARN (it works, but may be unintended) or FAIL.
Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.
`;
}

/** `signalbox team create --help`. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options);
  const required = options.filter(([, option]) => option.required).map(([name, { value }]) => `--${name} ${value}`);
  const line = [command.name, ...command.positionals, ...required, '[OPTIONS]'].join(' ');
  const optionRows = options.map(([name, { value, help }]) => [`--${name} ${value}`.trim(), help] as const);
  return `Usage: signalbox ${line}

${sentence(command.summary)}

Options:
${helpRows([...optionRows, ['--json', 'print one JSON object']]).join('')}`;
}
