import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TlsCertificate } from '../../server/platform/tls/certificate.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { RecordedLog } from '../harness/recorded-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

let folder: string;
let server: https.Server;
let certificate: TlsCertificate;
let clock: ManualClock;
let log: RecordedLog;

const files = () => ({ certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') });

async function write(pair: { cert: string; key?: string }): Promise<void> {
  await writeFile(files().certFile, pair.cert);
  if (pair.key !== undefined) await writeFile(files().keyFile, pair.key);
}

/** The common name that a new connection is shown. */
async function shownName(): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-tls-'));
  clock = new ManualClock();
  log = new RecordedLog();
  await write(await createSelfSigned('first'));
  certificate = await TlsCertificate.open(files(), { clock, log });
  server = https.createServer(certificate.pair, (_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  certificate.keepRenewed(server);
  await once(server, 'listening');
});
afterEach(async () => {
  await certificate.stop();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

describe('a certificate that was renewed', () => {
  test('is shown to new connections as soon as the files are read again', async () => {
    expect(await shownName()).toBe('first');
    await write(await createSelfSigned('second'));
    expect(await shownName()).toBe('first');
    await certificate.read();
    expect(await shownName()).toBe('second');
  });

  test('is found within a minute without a signal', async () => {
    await write(await createSelfSigned('second'));
    await waitUntil('the files were read', async () => {
      clock.advance(60_000);
      return (await shownName()) === 'second';
    });
  });

  test('leaves open connections alone', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const get = async (): Promise<string> => {
      const { port } = server.address() as AddressInfo;
      const request = https.get({ port, host: '127.0.0.1', agent });
      const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
      const name = (response.socket as tls.TLSSocket).getPeerCertificate().subject.CN;
      response.resume();
      await once(response, 'end');
      return String(name);
    };
    expect(await get()).toBe('first');
    await write(await createSelfSigned('second'));
    await certificate.read();
    expect(await get()).toBe('first');
    agent.destroy();
  });

  test.each([
    ['a certificate whose key is still the old one', async () => ({ cert: (await createSelfSigned('second')).cert })],
    ['half a file', async () => ({ cert: (await createSelfSigned('second')).cert.slice(0, 200) })],
  ])('is not used while the files hold %s', async (_case, pair) => {
    await write(await pair());
    await certificate.read();
    expect(await shownName()).toBe('first');
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await write(await createSelfSigned('third'));
    await certificate.read();
    expect(await shownName()).toBe('third');
  });
});
