import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { consolePage, readConsole, webConsole } from '../../server/operations/console/feature.ts';
import { createApp } from '../../server/platform/http/app.ts';
import type { App } from '../../server/platform/http/app.ts';

/** The files of the web application while an upgrade replaces them below a running control plane. */

let folder: string;
let app: App;

async function build(name: string): Promise<void> {
  await rm(path.join(folder, 'assets'), { recursive: true, force: true });
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'assets', `${name}.js`), `// ${name}`);
  for (const document of ['index.html', 'terminal.html', 'push-worker.js']) {
    const file = path.join(folder, document);
    await writeFile(file, `<script src="/assets/${name}.js" nonce="__NONCE__"></script>`);
    // Of another time than the one before, however fast this is.
    await utimes(file, 0, name.length);
  }
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-console-files-'));
  await build('old');
  const consoleFiles = readConsole(folder);
  app = createApp({ log: pino({ level: 'silent' }), now: () => 0, pageFor: (request, reply) => consolePage(consoleFiles, request, reply) });
  await webConsole.openRoutes!(app, { consoleFiles });
});
afterEach(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const get = (url: string) => app.inject({ method: 'GET', url, headers: { accept: 'text/html,*/*' } });

test('the page and the files that it names are those of the new build', async () => {
  expect((await get('/')).body).toContain('/assets/old.js');
  expect((await get('/assets/old.js')).body).toBe('// old');
  await build('newer');
  expect((await get('/')).body).toContain('/assets/newer.js');
  expect((await get('/terminal.html')).body).toContain('/assets/newer.js');
  expect((await get('/push-worker.js')).body).toContain('/assets/newer.js');
  const file = await get('/assets/newer.js');
  expect([file.body, file.headers['cache-control']]).toEqual(['// newer', 'public, max-age=31536000, immutable']);
});

test('a file of the old build is missing, which no cache remembers', async () => {
  await get('/assets/old.js');
  await build('newer');
  const old = await get('/assets/old.js');
  expect([old.statusCode, old.headers['cache-control']]).toEqual([404, 'no-store']);
  expect(old.json<{ code: string }>().code).toBe('not_found');
});

test('the last page stays while there is none', async () => {
  await rm(path.join(folder, 'index.html'));
  expect((await get('/')).body).toContain('/assets/old.js');
});

test('without a build there is none', () => {
  expect(readConsole(path.join(folder, 'nothing'))).toBeNull();
});
