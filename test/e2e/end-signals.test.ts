import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { freePort } from '../harness/installation.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/**
 * A terminal signals everybody in it: the program, and the wrapper that has started it and passes the signal on. The
 * program is told twice and must still end in good order.
 */
let folder: string;
let program: Program | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-end-'));
});
afterEach(async () => {
  await program?.stop();
  await rm(folder, { recursive: true, force: true });
});

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function serve(settings: Record<string, string> = {}): Promise<string> {
  const port = await freePort();
  program = new Program('bin/signalbox.mjs', ['serve'], {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    ...settings,
  });
  program.start({ group: true });
  await waitUntil('it listens', () => program?.output.includes('control plane is listening'));
  return `127.0.0.1:${port}`;
}

test.each(['SIGINT', 'SIGTERM'] as const)('npx signalbox serve shuts down cleanly on %s', async (signal) => {
  await serve();
  program!.signalGroup(signal);
  expect(await program!.ended()).toBe(0);
  expect(program!.output).not.toContain('second');
});

test('npx signalbox serve without a terminal reloads its certificate on SIGHUP', async () => {
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const write = async (name: string): Promise<void> => {
    const { cert, key } = await createSelfSigned(name);
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
  };
  await write('first');
  const address = await serve({ SIGNALBOX_TLS_CERT_FILE: certFile, SIGNALBOX_TLS_KEY_FILE: keyFile });
  await write('second');
  program!.signalGroup('SIGHUP');
  await waitUntil('the new certificate is in use', () => program!.output.includes('the renewed TLS certificate is in use'));
  const socket = tls.connect({ host: '127.0.0.1', port: Number(address.split(':')[1]), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  expect(socket.getPeerCertificate().subject.CN).toBe('second');
  socket.destroy();
  program!.signalGroup('SIGTERM');
  expect(await program!.ended()).toBe(0);
});

test.each(signals)('npx signalbox-agent run shuts down cleanly on %s', async (signal) => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const credentials = path.join(folder, 'credentials.json');
  await writeFile(credentials, JSON.stringify({ server, agent_id: '01890000-0000-7000-8000-000000000000', secret: 'secret' }));
  const config = path.join(folder, 'agent.yaml');
  const routers = [{ name: 'edge', host: '127.0.0.1', api: { port: await freePort(), username: 'signalbox', password: 'secret' } }];
  await writeFile(config, stringify({ server, credentials, state: 'state', routers }));
  program = new Program('bin/signalbox-agent.mjs', ['run', '--config', config]);
  program.start({ group: true });
  await waitUntil('it dials', () => program?.output.includes('no connection to the control plane'));
  program.signalGroup(signal);
  expect(await program.ended()).toBe(0);
  expect(program.output).toContain(`"reason":"${signal}"`);
});
