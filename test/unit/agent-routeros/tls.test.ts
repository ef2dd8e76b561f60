import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectRouterOsApi, type RouterOsApi, type RouterOsApiOptions } from '../../../agent/routers/routeros-api/index.ts';
import { type ScriptedRouter, startScriptedRouter } from './scripted-router.ts';

/** api-ssl: which peers get the agent's password. */

type Trust = NonNullable<RouterOsApiOptions['tls']>;

let folder: string;
const closers: (() => Promise<void>)[] = [];
const file = (name: string): string => path.join(folder, name);
const read = (name: string): string => readFileSync(file(name), 'utf8');

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
}

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'api-tls-'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority');
  for (const [name, san] of [
    ['right', 'IP:127.0.0.1'],
    ['other', 'DNS:elsewhere.example'],
  ] as const) {
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=${san}`];
    openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`, ...signed);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function router(tls: TlsOptions): Promise<ScriptedRouter> {
  const started = await startScriptedRouter(({ reply }) => reply('!done'), { tls });
  closers.push(() => started.close());
  return started;
}

const withCertificate = (name: string): Promise<ScriptedRouter> => router({ key: read(`${name}.key`), cert: read(`${name}.pem`) });
const anonymous = (): Promise<ScriptedRouter> => router({ ciphers: 'ADH:@SECLEVEL=0', maxVersion: 'TLSv1.2', dhparam: 'auto' });

async function connect({ port }: { port: number }, tls: Trust): Promise<RouterOsApi> {
  const api = await connectRouterOsApi({
    host: '127.0.0.1',
    port,
    username: 'admin',
    password: 'secret',
    tls,
    deadline: { timeoutMs: 5000 },
  });
  closers.push(() => api.close());
  return api;
}

function fingerprint(name: string): string {
  return createHash('sha256')
    .update(new X509Certificate(read(`${name}.pem`)).raw)
    .digest('hex');
}

const withColons = (hex: string): string => hex.toUpperCase().replace(/(..)(?=.)/g, '$1:');

async function works(api: RouterOsApi): Promise<void> {
  expect(await api.command({ path: '/system/identity/print', words: [] }, { timeoutMs: 5000 })).toEqual({ rows: [] });
}

/** Refused before the password was sent. */
async function refused(peer: ScriptedRouter, tls: Trust, text: RegExp): Promise<void> {
  await expect(connect(peer, tls)).rejects.toMatchObject({ code: 'router_unreachable', message: expect.stringMatching(text) });
  expect(peer.heard).toEqual([]);
}

describe('a router with a certificate', () => {
  it('of the authority is trusted', async () => {
    await works(await connect(await withCertificate('right'), { ca: read('ca.pem') }));
  });

  it('of the authority for another name is not', async () => {
    await refused(await withCertificate('other'), { ca: read('ca.pem') }, /another name/);
  });

  it('of an unknown authority is not', async () => {
    await refused(await withCertificate('right'), {}, /set ca or fingerprint/);
  });

  it('is trusted by its fingerprint in any notation', async () => {
    await works(await connect(await withCertificate('other'), { fingerprint: fingerprint('other') }));
    await works(await connect(await withCertificate('other'), { fingerprint: withColons(fingerprint('other')) }));
  });

  it('of another fingerprint is refused before the login is sent', async () => {
    await refused(
      await withCertificate('right'),
      { fingerprint: fingerprint('other') },
      /fingerprint is [0-9a-f]{64}, not the one required/,
    );
  });

  it('must match both authority and fingerprint if both are given', async () => {
    await works(await connect(await withCertificate('other'), { ca: read('ca.pem'), fingerprint: fingerprint('other') }));
    await refused(await withCertificate('right'), { ca: read('ca.pem'), fingerprint: fingerprint('other') }, /not the one required/);
  });
});

describe('a router without a certificate', () => {
  it('is accepted only with anonymous_tls', async () => {
    await works(await connect(await anonymous(), { anonymous: true }));
    await refused(await anonymous(), {}, /anonymous_tls/);
    await refused(await anonymous(), { fingerprint: fingerprint('right') }, /anonymous_tls/);
  });

  it('is still accepted as anonymous after it got a certificate', async () => {
    await works(await connect(await withCertificate('right'), { anonymous: true }));
  });
});

describe('a port that does not speak TLS', () => {
  it('is reported as such', async () => {
    const plain = await startScriptedRouter(({ socket }) => socket.write('hello'));
    closers.push(() => plain.close());
    await expect(
      connectRouterOsApi({ host: '127.0.0.1', port: plain.port, username: 'a', password: '', tls: {}, deadline: { timeoutMs: 500 } }),
    ).rejects.toMatchObject({ code: 'router_unreachable' });
  });

  it('has the default port of its protocol', async () => {
    const port = async (tls?: Trust): Promise<string> => {
      const options = { host: '127.0.0.1', username: 'a', password: '', deadline: { timeoutMs: 2000 } };
      return connectRouterOsApi({ ...options, ...(tls ? { tls } : {}) }).then(
        () => 'connected',
        (error: Error) => error.message.split(' ')[0] ?? '',
      );
    };
    expect(await port()).toBe('127.0.0.1:8728:');
    expect(await port({})).toBe('127.0.0.1:8729:');
  });
});
