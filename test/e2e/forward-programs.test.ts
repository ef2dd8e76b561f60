import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { askForServer } from '../harness/databases.ts';
import { BEHIND, openNatSite, openSshSite } from '../harness/forward-sites.ts';
import type { ForwardSite } from '../harness/forward-sites.ts';
import { whyNoLab } from '../harness/network-lab.ts';
import { hasOpensshServer, startOpensshServer } from '../harness/openssh-server.ts';
import type { OpensshServer } from '../harness/openssh-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/**
 * Programs nobody here wrote, through routers nobody here wrote either: OpenSSH in front of a RouterOS console, and the
 * kernel's NAT behind a RouterOS API. Other ways: real-programs.test.ts.
 */
const run = promisify(execFile);
const CHROMIUM = '/usr/bin/chromium';
const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
const missing = ['curl', 'ssh', 'sftp', 'psql', 'iperf3'].filter((program) => !has(program));
if (!existsSync(CHROMIUM)) missing.push(CHROMIUM);
if (!hasOpensshServer) missing.push('sshd');
for (const program of missing) process.stderr.write(`${program} is not installed: its test is skipped\n`);

const noLab = whyNoLab();
if (noLab !== undefined) process.stderr.write(`programs through network namespaces are not tested: ${noLab}\n`);

/** Carries a connection on to where a program really listens. */
function join(client: net.Socket, to: net.NetConnectOpts): void {
  const server = net.connect({ ...to, allowHalfOpen: true });
  client.pipe(server).pipe(client);
  for (const socket of [client, server]) socket.on('error', () => socket.destroy());
}

const LIMIT = { timeout: 60_000, maxBuffer: 32 * 1024 * 1024 };

describe.skipIf(!hasOpensshServer)('through OpenSSH as the router', () => programs(openSshSite));
describe.skipIf(noLab !== undefined)('through nftables as the router', () => programs(openNatSite));

function programs(open: () => Promise<ForwardSite>): void {
  let site: ForwardSite;
  const servers: { close(): unknown }[] = [];

  beforeAll(async () => {
    site = await open();
  });
  afterAll(async () => {
    await site?.close();
    for (const server of servers) server.close();
  });

  /** The entry port of a new forward to a server behind the router. */
  async function forwardTo(server: net.Server | http2.Http2SecureServer): Promise<string> {
    servers.push(server);
    return site.forward(await site.listen(server));
  }

  describe('to a machine with sshd', () => {
    let host: OpensshServer;
    let port: string;

    beforeAll(async () => {
      host = await startOpensshServer([`ListenAddress ${BEHIND}`]);
      port = await forwardTo(net.createServer({ allowHalfOpen: true }, (client) => join(client, { host: BEHIND, port: host.port })));
    });
    afterAll(() => host?.close());

    const words = (): string[] =>
      [
        'StrictHostKeyChecking=no',
        'UserKnownHostsFile=/dev/null',
        'LogLevel=ERROR',
        'ConnectTimeout=10',
        `IdentityFile=${host.folder}/user`,
      ].flatMap((option) => ['-o', option]);

    test.runIf(has('ssh'))('ssh runs a command', async () => {
      const { stdout } = await run(
        'ssh',
        [...words(), '-p', port, `${host.username}@127.0.0.1`, 'head -c 3000000 /dev/zero | sha256sum; echo $((6 * 7))'],
        LIMIT,
      );
      const sum = createHash('sha256').update(Buffer.alloc(3_000_000)).digest('hex');
      expect(stdout).toBe(`${sum}  -\n42\n`);
    });

    test.runIf(has('sftp'))('sftp puts and gets 128 MB unchanged', async () => {
      const file = path.join(site.folder, 'large');
      const bytes = randomBytes(128_000_000);
      await writeFile(file, bytes);
      const batch = path.join(site.folder, 'batch');
      await writeFile(batch, `put ${file} ${file}.there\nget ${file}.there ${file}.back\n`);
      await run('sftp', ['-q', '-b', batch, ...words(), '-P', port, `${host.username}@127.0.0.1`], LIMIT);
      for (const copy of ['there', 'back']) expect((await readFile(`${file}.${copy}`)).equals(bytes), copy).toBe(true);
    });
  });

  test.runIf(has('curl'))('curl reuses an HTTP/1.1 connection', async () => {
    const big = randomBytes(5_000_000);
    const port = await forwardTo(http.createServer((_request, response) => response.end(big)));
    const files = ['one', 'two', 'three'].map((name) => path.join(site.folder, name));
    const urls = files.flatMap((file) => ['-o', file, `http://127.0.0.1:${port}/`]);
    const { stdout } = await run('curl', ['-sS', '--http1.1', ...urls, '-w', '%{http_version} %{num_connects}\n'], LIMIT);
    expect(stdout).toBe('1.1 1\n1.1 0\n1.1 0\n');
    for (const file of files) expect((await readFile(file)).equals(big)).toBe(true);
  });

  describe.runIf(has('curl'))('curl speaks HTTP/2', () => {
    const parts = Array.from({ length: 20 }, (_unused, n) => randomBytes(100_000 + n * 7777));

    const serve = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      stream.end(parts[Number(headers[':path']!.slice(1))]);
    };

    async function fetchParts(base: string, count: number, ...options: string[]): Promise<void> {
      const files = parts.slice(0, count).map((_part, n) => path.join(site.folder, `part-${n}`));
      const urls = files.flatMap((file, n) => ['-o', file, `${base}/${n}`]);
      const { stdout } = await run('curl', ['-sS', ...options, ...urls, '-w', '%{http_version}\n'], LIMIT);
      expect(stdout).toBe('2\n'.repeat(count));
      for (const [n, file] of files.entries()) expect((await readFile(file)).equals(parts[n]!), `part ${n}`).toBe(true);
    }

    test('over plain TCP', async () => {
      const port = await forwardTo(http2.createServer().on('stream', serve));
      // One: curl 7.88 fails on the second request of such a connection, without any forward too.
      await fetchParts(`http://127.0.0.1:${port}`, 1, '--http2-prior-knowledge');
    });

    test('over TLS, twenty requests at once', async () => {
      const certificate = await createSelfSigned('behind');
      const port = await forwardTo(http2.createSecureServer(certificate).on('stream', serve));
      await fetchParts(`https://127.0.0.1:${port}`, parts.length, '--http2', '--insecure', '--parallel', '--parallel-max', '20');
    });
  });

  test.runIf(has('psql') && inject('postgresPort') !== 0)('psql copies a table in and out', async () => {
    const socketFolder = await askForServer(inject('postgresPort'));
    const database = net.createServer({ allowHalfOpen: true }, (client) =>
      join(client, { path: path.join(socketFolder, '.s.PGSQL.5432') }),
    );
    const port = await forwardTo(database);
    const script = [
      'create temp table t (n int, filler text)',
      "insert into t select n, repeat('x', 100) from generate_series(1, 50000) n",
      'copy t to stdout',
    ];
    const { stdout } = await run(
      'psql',
      ['-h', '127.0.0.1', '-p', port, '-U', 'signalbox', '-d', 'postgres', '-Atq', '-c', script.join('; ')],
      { ...LIMIT, env: { PATH: process.env['PATH'] } },
    );
    const lines = stdout.trimEnd().split('\n');
    expect({ count: lines.length, last: lines.at(-1) }).toEqual({ count: 50_000, last: `50000\t${'x'.repeat(100)}` });
  });

  test.runIf(has('iperf3'))('iperf3 runs in both directions with four streams', async () => {
    const listening = await site.freePort();
    const server = site.start('iperf3', ['-s', '-B', site.address, '-p', String(listening), '--forceflush']);
    let said = '';
    server.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await waitUntil('iperf3 listens', () => said.includes('listening'));
    const port = await site.forward(listening);
    // The check whether the target answers counts as a client that has gone.
    await waitUntil('iperf3 listens again', () => said.split('listening').length > 2);
    for (const direction of [[], ['--reverse']]) {
      const { stdout } = await run('iperf3', ['-c', '127.0.0.1', '-p', port, '-t', '1', '-P', '4', '-J', ...direction], LIMIT);
      const { end } = JSON.parse(stdout) as { end: { streams: unknown[]; sum_received: { bytes: number } } };
      expect(end.streams).toHaveLength(4);
      expect(end.sum_received.bytes).toBeGreaterThan(1_000_000);
    }
  });

  test.runIf(existsSync(CHROMIUM))('a browser loads a page with sixty parts', async () => {
    const parts = Array.from({ length: 60 }, (_unused, n) => `window.parts = (window.parts ?? 0) + ${n};${' '.repeat(n * 1000)}`);
    const port = await forwardTo(
      http.createServer((request, response) => {
        const n = /^\/part-(\d+)\.js$/.exec(request.url ?? '')?.[1];
        response.setHeader('content-type', n === undefined ? 'text/html' : 'text/javascript');
        response.end(
          n === undefined ? parts.map((_part, index) => `<script src="/part-${index}.js" async></script>`).join('') : parts[Number(n)],
        );
      }),
    );
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    servers.push(browser);
    const page = await browser.newPage();
    const arrived: number[] = [];
    page.on('response', (response) => arrived.push(response.status()));
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'load', timeout: 120_000 });
    expect(await page.evaluate('window.parts')).toBe((59 * 60) / 2);
    // The page itself; what the browser asks for on its own (an icon) may come too.
    expect(arrived.filter((status) => status === 200).length).toBeGreaterThanOrEqual(61);
    await browser.close();
  });
}
