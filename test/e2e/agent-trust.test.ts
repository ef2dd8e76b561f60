import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkAgent } from '../../agent/check.ts';
import { parseConfig } from '../../agent/config.ts';
import { Dialer } from '../../agent/link/dialer.ts';
import { enrol } from '../../agent/link/enrol.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/** A control plane with a certificate of a private CA: every client names the setting to change. */

let folder: string;
let server: https.Server;
let address: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-trust-'));
  const certificate = await createSelfSigned('control plane');
  await writeFile(path.join(folder, 'ca.pem'), certificate.cert);
  server = https.createServer(certificate, (_request, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

test('an untrusted certificate at enrolment names --server-ca and leaves nothing behind', async () => {
  const host = address.slice('https://'.length);
  await expect(
    enrol({ server: address, token: 'T0ken', name: 'depot', credentialsFile: path.join(folder, 'credentials.json') }),
  ).rejects.toMatchObject({
    code: 'unreachable',
    message: `cannot reach ${host}: its certificate is not from a known authority: name the file of its CA with --server-ca (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  });
  expect(await readdir(folder)).toEqual(['ca.pem']);
});

async function reachable(serverCa: string | undefined): Promise<string | undefined> {
  const routers = [{ name: 'r', host: '127.0.0.1', api: { port: 9, username: 'a', password: 'b' } }];
  const config = parseConfig({ server: address, credentials: 'credentials.json', state: 'state', server_ca: serverCa, routers }, folder);
  return (await checkAgent(config)).find(({ what }) => what === 'reachable')?.detail;
}

test('a check names server_ca, and accepts it once it is set', async () => {
  expect(await reachable(undefined)).toMatch(/name the file of its CA with server_ca in agent\.yaml \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  expect(await reachable('ca.pem')).toBe(address);
  expect(await reachable('missing.pem')).toBe(`server_ca: ${folder}/missing.pem cannot be read: no such file or directory (ENOENT)`);
});

test('a running agent logs the same advice', async () => {
  const dialer = new Dialer({ server: address, agentId: 'a', secret: 'b' });
  const attach = () => ({ onText: () => undefined, onBinary: () => undefined, onPong: () => undefined, onClosed: () => undefined });
  await expect(dialer.dialTunnel(attach, AbortSignal.timeout(10_000))).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('with server_ca in agent.yaml'),
  });
});
