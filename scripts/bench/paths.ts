import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import nodePath from 'node:path';
import { createSelfSigned } from '../../test/simulator/certificate.ts';
import type { Path } from './path.ts';
import type { LineOptions } from './parts/line.ts';
import type { RelayOptions } from './parts/relay.ts';
import type { ServerPart } from './parts/server.ts';
import { BENCH_LOGIN, BENCH_TERMINAL } from './parts/simulator.ts';
import type { SimulatorPart } from './parts/simulator.ts';
import { BenchProcess } from './processes.ts';
import type { Started } from './processes.ts';
import { startRouterSshd, startSshTunnel } from './ssh-tunnel.ts';
import type { RouterSshd } from './ssh-tunnel.ts';
import type { Targets } from './targets.ts';

export interface ProductPath extends Path {
  api: { url: string; apiKey: string; routerId: string; ca: string | undefined };
  /** Where the router's own API listens, for the direct command. */
  routerApiPort: number;
}

export type Line = Omit<LineOptions, 'targets'>;

/** Starts the measured parts, each in its own process, and stops them in {@link close}. */
export class Paths {
  readonly #processes: BenchProcess[] = [];
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #folder: string;
  readonly #targets: Targets;
  readonly #certificate: { cert: string; key: string };

  private constructor(folder: string, targets: Targets, certificate: { cert: string; key: string }) {
    this.#folder = folder;
    this.#targets = targets;
    this.#certificate = certificate;
  }

  static async open(targets: Targets): Promise<Paths> {
    const folder = await mkdtemp(nodePath.join(os.tmpdir(), 'signalbox-bench-'));
    return new Paths(folder, targets, await createSelfSigned('localhost'));
  }

  /** Two plain relays in a row, with TLS between them if asked for. */
  async relay({ tls }: { tls: boolean }): Promise<Path> {
    const targets = [this.#targets.sink, this.#targets.source, this.#targets.echo];
    const far = await this.#start<number[]>('relay', { targets, ...(tls ? { serve: this.#certificate } : {}) } satisfies RelayOptions);
    const near = await this.#start<number[]>('relay', {
      targets: far.result,
      ...(tls ? { trust: this.#certificate.cert } : {}),
    } satisfies RelayOptions);
    const [sink, source, echo] = near.result as [number, number, number];
    return { name: tls ? 'relay with TLS' : 'relay', sink, source, echo, hops: [near.process, far.process] };
  }

  /** `ssh -R` from the targets' side; undefined where sshd is not installed. */
  async ssh(line?: Line): Promise<Path | undefined> {
    const through = line && (async (port: number): Promise<number> => (await this.#line([port], line))[0]!);
    const tunnel = await startSshTunnel(this.#targets, 'ssh -R', through);
    if (tunnel) this.#closers.push(() => tunnel.close());
    return tunnel;
  }

  /** The link alone: the rate of one bare TCP connection over it. */
  async bareLine(line: Line): Promise<Path> {
    const [sink, source, echo] = (await this.#line([this.#targets.sink, this.#targets.source, this.#targets.echo], line)) as [
      number,
      number,
      number,
    ];
    return { name: 'one TCP connection', sink, source, echo, hops: [] };
  }

  /** Forwards by the SSH way, and `ssh -L` through the same sshd; undefined where sshd is not installed. */
  async sshWay(): Promise<{ product: ProductPath; tunnel: Path } | undefined> {
    const sshd = await startRouterSshd(this.#targets);
    if (!sshd) return undefined;
    this.#closers.push(() => sshd.close());
    const product = await this.product({ tls: false, sshd });
    return { product: { ...product, name: 'forward by the SSH way', hops: [...product.hops, sshd.daemon] }, tunnel: sshd.tunnel };
  }

  /** Control plane, agent and router with three forwards; with a line, it is between control plane and agent. */
  async product({ tls, line, sshd }: { tls: boolean; line?: Line; sshd?: RouterSshd }): Promise<ProductPath> {
    const folder = nodePath.join(this.#folder, `product-${this.#processes.length}`);
    await mkdir(folder);
    const files = { certFile: nodePath.join(folder, 'cert.pem'), keyFile: nodePath.join(folder, 'key.pem') };
    await writeFile(files.certFile, this.#certificate.cert);
    await writeFile(files.keyFile, this.#certificate.key);
    const { result: router } = await this.#start<SimulatorPart>('simulator', {});
    const server = await this.#start<ServerPart>('server', { folder, ...(tls ? { tls: files } : {}) });
    const agent = await this.#start<null>('agent', {
      folder,
      server: line ? await this.#urlThrough(server.result.url, line) : server.result.url,
      enrolToken: server.result.enrolToken,
      ...(tls ? { caFile: files.certFile } : {}),
      router: { apiPort: router.apiPort, ...BENCH_LOGIN },
      terminal: { port: router.sshPort, ...BENCH_TERMINAL },
      ...(sshd ? { sshd: sshd.login } : {}),
    });
    const call = caller(server.result, tls ? this.#certificate.cert : undefined);
    const routerId = await waitForRouter(call);
    const forward = async (dstPort: number): Promise<number> => {
      const body = { expire_after_minutes: 60, dst_port: dstPort, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
      const record = (await call('POST', `/api/routers/${routerId}/transient-forwarding`, body)) as {
        port: number;
        authorized_at: string | null;
      };
      if (record.authorized_at === null) throw new Error(`the forward was not authorised: ${JSON.stringify(record)}`);
      return record.port;
    };
    return {
      name: tls ? 'forward with TLS' : 'forward',
      sink: await forward(this.#targets.sink),
      source: await forward(this.#targets.source),
      echo: await forward(this.#targets.echo),
      hops: [server.process, agent.process],
      api: { url: server.result.url, apiKey: server.result.apiKey, routerId, ca: tls ? this.#certificate.cert : undefined },
      routerApiPort: router.apiPort,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#closers.map((close) => close()));
    await Promise.all(this.#processes.map((process) => process.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #line(targets: number[], line: Line): Promise<number[]> {
    return (await this.#start<number[]>('line', { targets, ...line } satisfies LineOptions)).result;
  }

  async #urlThrough(url: string, line: Line): Promise<string> {
    const through = new URL(url);
    through.port = String((await this.#line([Number(through.port)], line))[0]);
    return through.origin;
  }

  async #start<T>(part: string, options: unknown): Promise<Started<T>> {
    const started = await BenchProcess.start<T>(part, options);
    this.#processes.push(started.process);
    return started;
  }
}

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

export function caller({ url, apiKey }: ServerPart, ca: string | undefined): Call {
  return async (method, path, body) => {
    const { Agent, request } = await import('undici');
    const dispatcher = new Agent({ connect: ca === undefined ? {} : { ca } });
    try {
      const answer = await request(`${url}${path}`, {
        method,
        dispatcher,
        headers: { authorization: `Bearer ${apiKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
      return JSON.parse(text);
    } finally {
      await dispatcher.close();
    }
  };
}

export async function waitForRouter(call: Call): Promise<string> {
  const giveUpAt = performance.now() + 20_000;
  while (performance.now() < giveUpAt) {
    const { data } = (await call('GET', '/api/routers')) as { data: { id: string; has_pulse: boolean }[] };
    const router = data.find((candidate) => candidate.has_pulse);
    if (router) return router.id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the router did not show up in the control plane');
}
