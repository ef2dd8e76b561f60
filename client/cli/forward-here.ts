import type { Signalbox } from '../client.ts';
import { ProblemError } from '../errors.ts';
import type { TransientForward } from '../generated.ts';
import { LocalPort } from '../local-port.ts';
import { pauseFor } from '../transport.ts';
import type { Command, Context, Outcome } from './command.ts';
import { UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { readTarget } from './forward-commands.ts';

const MINUTES = 60;

/** Reserved for examples (RFC 5737): nobody comes from there, so the entry port on the server admits nobody. */
const NOBODY = '192.0.2.1/32';

/** Key revoked or expired, rights taken away, forward of nobody any more: asking again changes nothing. */
const GIVEN_UP = new Set(['unauthenticated', 'forbidden', 'not_found']);

/** Past its end the server gets so long to say so. Clocks differ. */
const UNHEARD_MS = 60_000;

/** How often is asked whether the forward is still open. */
const LOOK_EVERY_MS = 10_000;
/** Longest wait for the creation or the end of the forward; Ctrl-C does not shorten it, else one could stay open. */
const ANSWER_MS = 30_000;

/** `signalbox forward --router R --to 192.168.88.10:443 --listen 127.0.0.1:8443` */
export const forwardHere: Command = {
  name: 'forward',
  summary: 'lead a port of this machine to ADDRESS:PORT as the router sees it, until Ctrl-C',
  positionals: [],
  options: {
    router: { value: 'ROUTER', help: 'its id or name', required: true },
    to: { value: 'ADDRESS:PORT', help: 'where it leads', required: true },
    listen: { value: 'ADDRESS:PORT', help: 'port of this machine', required: true },
    minutes: { value: 'N', help: `how long at most, 10 to 1440 (${MINUTES})` },
  },
  async run(context, input) {
    const { signalbox, surroundings } = context;
    const target = readTarget('--to', input.option('to')!);
    const listen = readTarget('--listen', input.option('listen')!);
    if (listen.port > 65_535) throw new UsageError('--listen: a port is a number up to 65535');
    const minutes = input.number('minutes') ?? MINUTES;
    const routerId = await signalbox.routerIdOf(input.option('router')!, surroundings);
    surroundings.signal.throwIfAborted();
    const body = { expire_after_minutes: minutes, dst_address: target.address, dst_port: target.port, allow_from: NOBODY };
    // First: a port of this machine that is taken must not open one in somebody's network.
    const local = await LocalPort.listen({
      host: listen.address,
      port: listen.port,
      onBroken: (reason) => surroundings.stderr(`a connection ended: ${reason}\n`),
    });
    try {
      const forward = await signalbox.call('createForward', { path: { router_id: routerId }, body }, { timeoutMs: ANSWER_MS });
      try {
        return await carryUntilOver(context, forward, local);
      } finally {
        local.close();
        await revoke(context, forward);
      }
    } finally {
      local.close();
    }
  },
};

async function carryUntilOver({ signalbox, surroundings }: Context, forward: TransientForward, local: LocalPort): Promise<Outcome> {
  const { stderr } = surroundings;
  local.leadTo(() => signalbox.connectForward(forward.router_id, forward.id));
  stderr(`${local.name} leads to ${forward.dst_address}:${forward.dst_port} until ${forward.expires_at}; Ctrl-C ends it\n`);
  if (forward.authorized_at === null) stderr(`not open yet: ${forward.way_reason ?? 'its agent has not answered'}\n`);
  return watch({ forward, local, look: () => lookAt(signalbox, forward, surroundings), ...surroundings });
}

interface Watched {
  forward: TransientForward;
  local: LocalPort;
  look: () => Promise<TransientForward | undefined>;
  stderr: (text: string) => void;
  signal: AbortSignal;
}

/** Says what there is to say until the forward is over. @throws the signal's reason at Ctrl-C */
async function watch({ forward, local, look, stderr, signal }: Watched): Promise<Outcome> {
  let said = '';
  for (;;) {
    const { open, total } = local.counts;
    const leftMs = Date.parse(forward.expires_at) - Date.now();
    const minutes = Math.max(0, Math.ceil(leftMs / 60_000));
    const line = `${minutes} min left, ${open} connections open, ${total} in all\n`;
    if (line !== said) stderr(line);
    said = line;
    await pauseFor(Math.max(1000, Math.min(LOOK_EVERY_MS, leftMs)), signal);
    const now = await look();
    if (now === undefined && leftMs + UNHEARD_MS < 0) {
      stderr('its time is over, and the server does not answer\n');
      return { json: undefined, text: '', exitCode: EXIT.notConnected };
    }
    if (now === undefined || now.closed_at === null) continue;
    stderr(now.revoked_early ? 'the forward was revoked by someone else\n' : 'its time is over\n');
    return { json: undefined, text: '', exitCode: now.revoked_early ? EXIT.failed : EXIT.ok };
  }
}

/**
 * Undefined when the server does not answer: connections may go on, and it is asked again.
 * @throws ProblemError when it refuses: nobody is told any more what becomes of the forward
 */
async function lookAt(signalbox: Signalbox, { router_id: routerId, id }: TransientForward, { signal }: { signal: AbortSignal }): Promise<TransientForward | undefined> {
  try {
    return await signalbox.call('getForward', { path: { router_id: routerId, id } }, { signal, timeoutMs: ANSWER_MS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError && GIVEN_UP.has(error.code)) throw error;
    return undefined;
  }
}

async function revoke({ signalbox, surroundings: { stderr } }: Context, { router_id: routerId, id, expires_at: end }: TransientForward): Promise<void> {
  try {
    await signalbox.call('revokeForward', { path: { router_id: routerId, id } }, { signal: AbortSignal.timeout(ANSWER_MS) });
    stderr('the forward is closed\n');
  } catch (error) {
    stderr(`the forward ${id} could not be closed and stays until ${end}: ${(error as Error).message}\n`);
  }
}
