import type { TransientForward } from '../generated.ts';
import { LocalPort } from '../local-port.ts';
import type { Command, Context, Outcome } from './command.ts';
import { UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { readTarget, refusalText } from './forward-commands.ts';
import { ANSWER_MS, closeForward, systemWatchClock, watchForward } from './forward-watch.ts';
import { listenError } from './listen-error.ts';

const MINUTES = 60;

/** Reserved for documentation (RFC 5737): no client has this address, so the entry port on the server accepts no client. */
const NOBODY = '192.0.2.1/32';

/** `signalbox forward --router R --to 192.168.88.10:443 --listen 127.0.0.1:8443` */
export const forwardHere: Command = {
  name: 'forward',
  summary: 'forward a local port to ADDRESS:PORT behind a router, until Ctrl-C',
  positionals: [],
  options: {
    router: { value: 'ROUTER', help: 'router, by id or identity', required: true },
    to: { value: 'ADDRESS:PORT', help: 'target, as the router reaches it', required: true },
    listen: { value: 'ADDRESS:PORT', help: 'local address and port to listen on', required: true },
    minutes: { value: 'N', help: `longest lifetime, 10 to 1440; default: ${MINUTES}` },
  },
  examples: [
    'forward --router edge-berlin --to 192.168.88.10:443 --listen 127.0.0.1:8443',
    'forward --router edge-berlin --to [fd00::10]:22 --listen 127.0.0.1:2222 --minutes 30',
  ],
  async run(context, input) {
    const { signalbox, surroundings } = context;
    const target = readTarget('--to', input.option('to')!);
    const listen = readTarget('--listen', input.option('listen')!);
    if (listen.port > 65_535) throw new UsageError('--listen: the port must be at most 65535');
    const minutes = input.number('minutes') ?? MINUTES;
    const router = input.option('router')!;
    const body = { expire_after_minutes: minutes, dst_address: target.address, dst_port: target.port, allow_from: NOBODY };
    // The local port comes first: if it is taken, no forward is opened on the server.
    const local = await LocalPort.listen({
      host: listen.address,
      port: listen.port,
      onBroken: (reason) => surroundings.stderr(`a connection failed: ${reason}\n`),
      print: surroundings.stderr,
    }).catch((error: unknown) => {
      throw listenError(input.option('listen')!, error);
    });
    try {
      surroundings.signal.throwIfAborted();
      const forward = await signalbox.call('createForward', { path: { router_id: router }, body }, { timeoutMs: ANSWER_MS });
      try {
        return await forwardUntilOver(context, forward, local);
      } finally {
        local.close();
        await closeForward({ signalbox, forward, clock: systemWatchClock, stderr: surroundings.stderr });
      }
    } finally {
      local.close();
    }
  },
};

async function forwardUntilOver({ signalbox, surroundings }: Context, forward: TransientForward, local: LocalPort): Promise<Outcome> {
  const { stderr, signal } = surroundings;
  if (forward.refused) {
    stderr(refusalText(forward));
    return { json: undefined, text: '', exitCode: EXIT.failed };
  }
  local.leadTo(() => signalbox.connectForward(forward.router_id, forward.id));
  stderr(`${local.name} leads to ${forward.dst_address}:${forward.dst_port} until ${forward.expires_at}; press Ctrl-C to close it\n`);
  if (forward.authorized_at === null) stderr(`not open yet: ${forward.way_reason ?? 'the agent has not answered'}\n`);
  return watchForward({ signalbox, forward, local, clock: systemWatchClock, stderr, signal });
}
