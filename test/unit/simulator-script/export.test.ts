import { expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/index.ts';

async function run(simulator: Simulator, source: string): Promise<string> {
  const { router } = simulator;
  let output = '';
  await router.scripts.run(
    source,
    { user: 'admin', policies: router.policiesOf('admin'), origin: 'ssh', signal: AbortSignal.timeout(5000) },
    (text) => {
      output += text;
    },
  );
  return output;
}

const configuration = (text: string): string[] => text.split('\r\n').filter((line) => !line.startsWith('#'));

/** Menus of the default configuration, users of a thing before the thing. */
const menus = [
  '/ip firewall filter',
  '/ip firewall nat',
  '/ip dhcp-server',
  '/ip pool',
  '/ip route',
  '/ip address',
  '/interface list member',
  '/interface list',
  '/interface bridge port',
  '/interface bridge',
];

test.each(['6.43.10', '6.49.10', '7.1.5', '7.12.2', '7.18.2', '7.23.3'])('a router of version %s takes its own export', async (version) => {
  const settings = { version, apiPort: null, sshPort: null } as const;
  const original = await startSimulator(settings);
  const copy = await startSimulator({ ...settings, blank: true });
  try {
    for (const command of ['/export', '/export terse']) {
      const exported = await run(original, command);
      expect(configuration(exported).length).toBeGreaterThan(20);
      expect(await run(copy, menus.map((menu) => `${menu} remove [find !dynamic !builtin]`).join('; '))).toBe('');
      expect(await run(copy, exported)).toBe('');
      expect(configuration(await run(copy, command))).toEqual(configuration(exported));
    }
  } finally {
    await original.close();
    await copy.close();
  }
});
