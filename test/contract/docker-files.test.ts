import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

/** Nothing here can run containers; what the files say of each other is compared. */

const read = (file: string): Promise<string> => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');

interface Compose {
  services: Record<'agent' | 'server', { volumes: string[] }>;
  volumes: Record<string, unknown>;
}

const agentImage = await read('docker/agent.Dockerfile');
const text = await read('docker-compose.yml');
const compose = parse(text) as Compose;
const state = /^state: (\S+)$/m.exec(await read('README.md'))?.[1] ?? 'not in README';

test('the agent’s image has the state folder of README, of the user it runs as, as a volume', () => {
  expect(agentImage).toMatch(new RegExp(`^RUN .*mkdir .*${state}.* chown node:node ${state}$`, 'm'));
  expect(agentImage).toMatch(new RegExp(`^VOLUME ${state}$`, 'm'));
  expect(agentImage).toMatch(/^USER node$/m);
});

test('compose keeps that folder in a named volume, which takes the owner of the image’s folder', () => {
  const [volume, target, mode] = compose.services.agent.volumes.find((entry) => entry.includes(`:${state}`))!.split(':');
  expect([target, mode]).toEqual([state, undefined]);
  expect(compose.volumes).toHaveProperty(volume!);
});

test('the commands of compose enrol into the volume, and agent.yaml looks there', () => {
  const file = `${state}/credentials.json`;
  expect(text).toMatch(new RegExp(`docker compose run --rm agent enrol .*--credentials ${file}$`, 'm'));
  expect(text).toContain(`credentials: ${file}`);
  expect(text).toContain(`state: ${state}`);
});
