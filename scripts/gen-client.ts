/**
 * `node scripts/gen-client.ts`: starts a control plane and writes client/generated.ts from its OpenAPI document. A test
 * fails when the file does not match the routes.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { startServer } from '../server/compose/start.ts';
import { checkConfig } from '../server/config.ts';
import type { OpenApiDocument } from '../server/platform/http/openapi-types.ts';
import { clientSource } from './gen-client/source.ts';

const TARGET = path.join(import.meta.dirname, '../client/generated.ts');

const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-gen-client-'));
try {
  const server = await startServer(
    checkConfig({
      SIGNALBOX_LISTEN: '127.0.0.1:0',
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_LOG_LEVEL: 'error',
    }),
  );
  try {
    const answer = await fetch(`${server.url}/openapi.json`);
    await writeFile(TARGET, clientSource((await answer.json()) as OpenApiDocument));
    process.stdout.write(`${TARGET}\n`);
  } finally {
    await server.close();
  }
} finally {
  await rm(folder, { recursive: true });
}
