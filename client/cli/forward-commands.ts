import type { TransientForward } from '../generated.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './text.ts';

const MINUTES = 60;

const open: Command = {
  name: 'forward open',
  summary: 'open a server port to ADDRESS:PORT behind a router',
  positionals: ['ROUTER', 'ADDRESS:PORT'],
  options: {
    from: { value: 'CIDR', help: 'allowed clients: a public address or network, /32 to /24', required: true },
    minutes: { value: 'N', help: `lifetime, 10 to 1440; default: ${MINUTES}` },
    'idle-seconds': { value: 'N', help: 'close connections that are idle for N seconds' },
    'max-connections': { value: 'N', help: 'concurrent connections, 1 to 512' },
  },
  examples: [
    'forward open edge-berlin 192.168.88.10:22 --from 203.0.113.7',
    'forward open edge-berlin nas.lan:443 --from 203.0.113.0/24 --minutes 120 --idle-seconds 600',
  ],
  async run({ signalbox, surroundings }, input) {
    const { address, port } = readTarget('the target', input.at(1));
    const minutes = input.number('minutes') ?? MINUTES;
    const id = input.at(0);
    const [idle, most] = [input.number('idle-seconds'), input.number('max-connections')];
    const body = {
      expire_after_minutes: minutes,
      dst_port: port,
      dst_address: address,
      allow_from: input.option('from')!,
      ...(idle === undefined ? {} : { idle_seconds: idle }),
      ...(most === undefined ? {} : { max_connections: most }),
    };
    const forward = await signalbox.call('createForward', { path: { router_id: id }, body }, surroundings);
    if (!forward.refused) return { json: forward, text: openText(forward) };
    // A refused forward carries nothing and would hold its entry port until it expires.
    await signalbox.call('revokeForward', { path: { router_id: forward.router_id, id: forward.id } });
    surroundings.stderr(refusalText(forward));
    return { json: forward, text: '', exitCode: EXIT.failed };
  },
};

/** Message for a target that the agent's rules forbid. */
export function refusalText({ dst_address: address, dst_port: port, way_reason: reason }: TransientForward): string {
  return `the forward to ${address}:${port} is refused: ${reason ?? 'the agent gives no reason'}\n`;
}

function openText(forward: TransientForward): string {
  const isOpen = forward.authorized_at !== null;
  const state = isOpen ? '' : `not open yet: ${forward.way_reason ?? 'the agent has not answered'}\n`;
  const byName =
    forward.entry_name === undefined ? '' : `${forward.entry_name}:${forward.entry_name_port} leads there too, for TLS clients\n`;
  return `${state}${forward.entry_point}:${forward.port} ${isOpen ? 'leads' : 'will lead'} to ${forward.dst_address}:${forward.dst_port}
${byName}for ${forward.allow_only_cidr} until ${forward.expires_at}
forward ${forward.id}
`;
}

/**
 * `192.168.88.10:22`, `[fd00::10]:22`, `nas.lan:443`
 * @param what name of the argument, for the message; the server checks address and port
 */
export function readTarget(what: string, text: string): { address: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  if (!match) throw new UsageError(`${what} must be ADDRESS:PORT, like 192.168.88.10:22 or [fd00::10]:22`);
  return { address: match[1] ?? match[2]!, port: Number(match[3]) };
}

const list: Command = {
  name: 'forward list',
  summary: 'list the open forwards of a router',
  positionals: ['ROUTER'],
  options: { all: { help: 'include closed and expired forwards' } },
  examples: ['forward list edge-berlin', 'forward list edge-berlin --all --json'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    const every = await signalbox.all('listForwards', { path: { router_id: id } }, surroundings);
    const found = input.isOn('all') ? every : every.filter(({ closed_at: closedAt }) => closedAt === null);
    const text = table(
      found,
      [
        ['ID', (forward) => forward.id],
        ['ENTRY', (forward) => `${forward.entry_point}:${forward.port}`],
        ['TARGET', (forward) => `${forward.dst_address}:${forward.dst_port}`],
        ['FROM', (forward) => forward.allow_only_cidr],
        ['STATE', stateOf],
        ['ENDS', (forward) => forward.time_to_expire],
        ['OPEN', (forward) => forward.open_connections],
      ],
      'no forwards',
      surroundings.columns,
    );
    return { json: found, text };
  },
};

function stateOf(forward: TransientForward): string {
  if (forward.revoked_early) return 'revoked';
  if (forward.closed_at !== null || forward.expired) return 'expired';
  // The agent has not found a way yet, or has lost it and is looking for another.
  return forward.way === null ? 'waiting' : 'open';
}

const change: Command = {
  name: 'forward change',
  summary: 'change the end or the allowed clients of a forward',
  positionals: ['ROUTER', 'FORWARD'],
  options: {
    minutes: { value: 'N', help: 'ends N minutes from now, 10 to 1440' },
    from: { value: 'CIDR', help: 'allowed clients; connections of others end' },
  },
  examples: ['forward change edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a --minutes 120'],
  async run({ signalbox, surroundings }, input) {
    const [minutes, from] = [input.number('minutes'), input.option('from')];
    if (minutes === undefined && from === undefined) throw new UsageError('name --minutes, --from or both');
    const body = {
      ...(minutes === undefined ? {} : { expire_after_minutes: minutes }),
      ...(from === undefined ? {} : { allow_from: from }),
    };
    const forward = await signalbox.call('changeForward', { path: { router_id: input.at(0), id: input.at(1) }, body }, surroundings);
    return { json: forward, text: openText(forward) };
  },
};

const close: Command = {
  name: 'forward close',
  summary: 'close a forward and its connections',
  positionals: ['ROUTER', 'FORWARD'],
  options: {},
  examples: ['forward close edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings }, input) {
    const id = input.at(0);
    await signalbox.call('revokeForward', { path: { router_id: id, id: input.at(1) } }, surroundings);
    return { json: { id: input.at(1), closed: true }, text: `forward ${input.at(1)} is closed\n` };
  },
};

export const forwardCommands: readonly Command[] = [open, list, change, close];
