import { Signalbox } from '../client.ts';
import { ConfigError, checkProfile, saveProfile } from '../config.ts';
import type { ProfileOptions } from '../config.ts';
import type { EventType } from '../events.ts';
import type { Command, Outcome, Surroundings } from './command.ts';
import { printable } from './text.ts';

/**
 * `signalbox login`: tries the key, then keeps both in the profile. It is no {@link Command}, because there is no
 * profile yet to work with. @throws ConfigError, ProblemError, ConnectionError
 */
export async function login(options: ProfileOptions, surroundings: Surroundings): Promise<Outcome> {
  const { env, signal } = surroundings;
  const server = options.server ?? env['SIGNALBOX_SERVER'];
  if (server === undefined) throw new ConfigError('which server? signalbox login --server https://…');
  // From the standard input, the key is neither in the shell's history nor in the list of processes.
  const key = options.key ?? env['SIGNALBOX_KEY'] ?? (await readKey(surroundings));
  const profile = checkProfile({ server, key });
  await new Signalbox(profile).call('listRouters', { query: { limit: 1 } }, { signal });
  const file = await saveProfile(profile, options.profile, env);
  return { json: { server: profile.server, profile: file }, text: `logged in at ${profile.server}; the key is in ${file}\n` };
}

async function readKey({ stderr, readInput }: Surroundings): Promise<string> {
  stderr('API key, then Ctrl-D: ');
  return (await readInput()).trim();
}

const events: Command = {
  name: 'events',
  summary: 'print what happens to routers, jobs, forwards and faults, as it happens',
  positionals: [],
  options: {
    types: { value: 'T', help: 'only these, separated by commas: router.offline,job.failed' },
    count: { value: 'N', help: 'end after N events' },
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
