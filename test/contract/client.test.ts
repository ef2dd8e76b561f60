import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientSource } from '../../scripts/gen-client/source.ts';
import { ApiDescription } from '../harness/api-document.ts';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [] });
});
afterAll(async () => world.close());

test('the client is generated from the routes as they are (else: node scripts/gen-client.ts)', async () => {
  const { document } = await ApiDescription.of(world.server.url);
  const file = path.join(import.meta.dirname, '../../client/generated.ts');
  expect(await readFile(file, 'utf8')).toBe(clientSource(document));
});
