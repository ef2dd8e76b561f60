import { Signalbox } from '../client.ts';
import { ConfigError, checkProfile, saveProfile } from '../config.ts';
import type { ProfileOptions } from '../config.ts';
import type { EventType } from '../events.ts';
import type { Command, Outcome, Surroundings } from './command.ts';
import { printable } from './text.ts';

/**
 * `signalbox login`: checks the key, then stores server and key in the profile. It does not run as a {@link Command}, which
 * needs a profile. @throws ConfigError, ProblemError, ConnectionError
 */
export async function login(options: ProfileOptions, surroundings: Surroundings): Promise<Outcome> {
  const { env, signal } = surroundings;
  const server = options.server ?? env['SIGNALBOX_SERVER'];
  if (server === undefined) throw new ConfigError('no server given: signalbox login --server https://…');
  // Read from standard input, the key appears neither in the shell's history nor in the process list.
  const key = options.key ?? env['SIGNALBOX_KEY'] ?? (await readKey(surroundings));
  const profile = checkProfile({ server, key });
  await new Signalbox(profile).call('listRouters', { query: { limit: 1 } }, { signal });
  const file = await saveProfile(profile, options.profile, env);
  return { json: { server: profile.server, profile: file }, text: `logged in to ${profile.server}; the key is stored in ${file}\n` };
}

async function readKey({ stderr, readInput }: Surroundings): Promise<string> {
  stderr('An administrator makes API keys in the web application: Settings, API keys.\nAPI key, then Ctrl-D: ');
  return (await readInput()).trim();
}

const events: Command = {
  name: 'events',
  summary: 'print events of routers, jobs, forwards and faults',
  positionals: [],
  options: {
    types: { value: 'T', help: 'only these types, separated by commas: router.offline,job.failed' },
    count: { value: 'N', help: 'exit after N events' },
  },
  examples: ['events', 'events --types router.offline,router.online --json'],
  async run({ signalbox, surroundings: { signal, stdout }, json }, input) {
    const types = input.option('types')?.split(',') as EventType[] | undefined;
    const count = input.number('count') ?? Infinity;
    let seen = 0;
    for await (const event of signalbox.events({ signal, ...(types === undefined ? {} : { types }) })) {
      const { at, ...rest } = event.data;
      const words = Object.entries(rest).map(([name, value]) => `${name}=${printable(value)}`);
      stdout(json ? `${JSON.stringify(event)}\n` : `${printable(at)} ${event.type} ${words.join(' ')}\n`);
      seen += 1;
      if (seen >= count) break;
    }
    return { json: undefined, text: '' };
  },
};

export const sessionCommands: readonly Command[] = [events];
