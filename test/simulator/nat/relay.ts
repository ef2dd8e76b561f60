import { connect, createServer, type Server, type Socket } from 'node:net';
import { parsePorts } from '../addresses.ts';
import type { Item } from '../menu/table.ts';
import type { RouterState } from '../state.ts';
import { routeConnection, type Destination } from './routing.ts';
import type { Nat } from './types.ts';

const NAT = '/ip/firewall/nat';
const CONNECTIONS = '/ip/firewall/connection';
/** A rule for a whole range of ports must not use up the machine's sockets. */
const MOST_PORTS = 256;

interface Forwarded {
  client: Socket;
  target: Socket;
  rule: Item;
}

/**
 * Makes dst-nat rules forward: a listener for every port an enabled rule names, and the rules asked anew for every
 * connection. Like conntrack, it leaves running connections alone when their rule goes.
 */
export class NatRelay implements Nat {
  readonly #router: RouterState;
  readonly #servers = new Map<number, Server>();
  readonly #sockets = new Set<Socket>();
  readonly #forwarded = new Map<string, Forwarded>();
  #work: Promise<void> = Promise.resolve();
  #stops: (() => void)[] = [];

  constructor(router: RouterState) {
    this.#router = router;
  }

  start(): void {
    this.#stops = [
      this.#router.table(NAT).watch(() => this.#plan()),
      this.#router.table(CONNECTIONS).watch(({ kind, item }) => {
        if (kind === 'remove') this.#cut(item.id);
      }),
    ];
    this.#plan();
  }

  /** Resolves when every rule made so far has its listener. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** Its connections and counters are its own. */
  observe(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    await this.#work;
    await Promise.all([...this.#servers.keys()].map((port) => this.#close(port)));
    // Conntrack is gone after a boot: what comes then is answered by a reset.
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #plan(): void {
    this.#work = this.#work.then(() => this.#adjust());
  }

  async #adjust(): Promise<void> {
    const wanted = wantedPorts(this.#router.table(NAT).items);
    for (const port of this.#servers.keys()) if (!wanted.has(port)) await this.#close(port);
    for (const port of wanted) if (!this.#servers.has(port)) await this.#open(port);
  }

  #open(port: number): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => this.#accept(socket, port));
    return new Promise((resolve) => {
      server.once('error', (error) => {
        this.#router.log('firewall,error', `simulator cannot listen on port ${port} for dst-nat: ${error.message}`);
        resolve();
      });
      server.listen({ host: this.#router.options.host, port }, () => {
        this.#servers.set(port, server);
        resolve();
      });
    });
  }

  /** Stops listening; established connections continue. */
  #close(port: number): Promise<void> {
    const server = this.#servers.get(port);
    this.#servers.delete(port);
    return new Promise((resolve) => {
      if (!server) return resolve();
      server.close();
      // `close` waits for connections to end, and those may outlive the rule.
      setImmediate(resolve);
    });
  }

  #accept(client: Socket, port: number): void {
    this.#own(client);
    const destination = routeConnection(this.#router, client.remoteAddress ?? '', port);
    if (destination.kind === 'forward') this.#forward(client, destination);
    else if (destination.kind === 'refused') client.resetAndDestroy();
    // 'lost': the packets go nowhere, and the client waits.
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #forward(client: Socket, { rule, host, port, printed }: Extract<Destination, { kind: 'forward' }>): void {
    const target = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.#own(target);
    target.once('connect', () => {
      const item = this.#router.table(CONNECTIONS).add(describe(client, printed), { dynamic: true });
      this.#forwarded.set(item.id, { client, target, rule });
      count(rule, 'packets', 1);
      client.pipe(target);
      target.pipe(client);
      client.on('close', () => this.#ended(item));
      target.on('close', () => this.#ended(item));
    });
    target.once('error', () => client.resetAndDestroy());
    client.once('error', () => target.resetAndDestroy());
    // An end is passed on by the pipes and a reset by the above; a connection that is given up breaks the other one.
    client.once('close', () => {
      if (!client.readableEnded) target.destroy();
    });
    target.once('close', () => {
      if (!target.readableEnded) client.destroy();
    });
  }

  #ended(item: Item): void {
    const forwarded = this.#forwarded.get(item.id);
    if (!forwarded?.client.destroyed || !forwarded.target.destroyed) return;
    count(forwarded.rule, 'bytes', forwarded.client.bytesRead + forwarded.target.bytesRead);
    this.#forwarded.delete(item.id);
    this.#router.table(CONNECTIONS).remove(item);
  }

  #cut(id: string): void {
    const forwarded = this.#forwarded.get(id);
    this.#forwarded.delete(id);
    forwarded?.client.resetAndDestroy();
    forwarded?.target.resetAndDestroy();
  }
}

function wantedPorts(rules: readonly Item[]): Set<number> {
  const ports = new Set<number>();
  for (const { values } of rules) {
    const forwards = ['dst-nat', 'redirect', 'netmap'].includes(values.get('action') ?? '') && values.get('chain') === 'dstnat';
    const parsed = parsePorts(values.get('dst-port') ?? '');
    if (!forwards || !parsed || parsed.negated || values.get('protocol') !== 'tcp' || values.get('disabled') === 'true') continue;
    for (const [low, high] of parsed.ranges) for (let port = low; port <= high && ports.size < MOST_PORTS; port += 1) ports.add(port);
  }
  return ports;
}

function describe(client: Socket, printed: { dst: string; replySrc: string }): [string, string][] {
  const src = `${(client.remoteAddress ?? '').replace(/^::ffff:/, '')}:${client.remotePort ?? 0}`;
  return [
    ['protocol', 'tcp'],
    ['src-address', src],
    ['dst-address', printed.dst],
    ['reply-src-address', printed.replySrc],
    ['reply-dst-address', src],
    ['tcp-state', 'established'],
    ['timeout', '23h59m59s'],
    ['orig-bytes', '0'],
    ['repl-bytes', '0'],
    ['dstnat', 'true'],
    ['srcnat', 'false'],
    ['assured', 'true'],
    ['confirmed', 'true'],
    ['seen-reply', 'true'],
  ];
}

/** Counters tick without being a change of the rule. */
function count(rule: Item, name: 'bytes' | 'packets', by: number): void {
  rule.values.set(name, String(Number(rule.values.get(name) ?? '0') + by));
}
