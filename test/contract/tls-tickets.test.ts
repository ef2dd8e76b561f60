import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TICKET_KEY_BYTES, TlsCertificate } from '../../server/platform/tls/certificate.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { silentLog } from '../harness/silent-log.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

const DAY_MS = 24 * 3_600_000;

/** Control planes behind one name: an agent that comes back to another one goes on with its TLS session. */
let folder: string;
let clock: ManualClock;
let closers: (() => Promise<void>)[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-tickets-'));
  clock = new ManualClock();
  const { cert, key } = await createSelfSigned('control plane');
  await Promise.all([writeFile(path.join(folder, 'cert.pem'), cert), writeFile(path.join(folder, 'key.pem'), key)]);
  closers = [];
});
afterEach(async () => {
  for (const close of closers) await close();
  await rm(folder, { recursive: true });
});

const keyOf =
  (secret: string) =>
  (day: number): Buffer =>
    createHmac('sha512', secret).update(`tickets ${day}`).digest().subarray(0, TICKET_KEY_BYTES);

/** @param secret undefined for one that serves alone */
async function serve(secret: string | undefined): Promise<{ port: number; certificate: TlsCertificate }> {
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  const certificate = await TlsCertificate.open(files, { clock, log: silentLog });
  if (secret !== undefined) certificate.shareTickets(keyOf(secret));
  const server = https.createServer(certificate.pair).listen(0, '127.0.0.1');
  certificate.keepRenewed(server);
  await once(server, 'listening');
  closers.push(async () => {
    await certificate.stop();
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, certificate };
}

/** A new session. @returns its ticket */
async function ticketOf({ port }: { port: number }): Promise<Buffer> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  // It comes after the handshake, to whoever reads.
  socket.resume();
  const [ticket] = (await once(socket, 'session')) as [Buffer];
  socket.destroy();
  return ticket;
}

async function goesOn({ port }: { port: number }, ticket: Buffer): Promise<boolean> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, session: ticket });
  await once(socket, 'secureConnect');
  const isReused = socket.isSessionReused();
  socket.destroy();
  return isReused;
}

test('a session of one goes on at another with the same key', async () => {
  const [one, other] = [await serve('shared'), await serve('shared')];
  expect(await goesOn(other, await ticketOf(one))).toBe(true);
});

test.each([['alone', undefined] as const, ['with another key', 'other'] as const])(
  'one that serves %s does not take it',
  async (_how, secret) => {
    const [one, other] = [await serve('shared'), await serve(secret)];
    const ticket = await ticketOf(one);
    expect([await goesOn(one, ticket), await goesOn(other, ticket)]).toEqual([true, false]);
  },
);

test('the key of another day does not open a ticket, and both change it at the same time', async () => {
  const [one, other] = [await serve('shared'), await serve('shared')];
  const ticket = await ticketOf(one);
  clock.advance(DAY_MS);
  for (const { certificate } of [one, other]) await certificate.read();
  expect(await goesOn(one, ticket)).toBe(false);
  expect(await goesOn(other, await ticketOf(one))).toBe(true);
});

test('a renewed certificate keeps the key', async () => {
  const [one, other] = [await serve('shared'), await serve('shared')];
  const { cert, key } = await createSelfSigned('renewed');
  await Promise.all([writeFile(path.join(folder, 'cert.pem'), cert), writeFile(path.join(folder, 'key.pem'), key)]);
  for (const { certificate } of [one, other]) await certificate.read();
  expect(await goesOn(other, await ticketOf(one))).toBe(true);
});
