import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualTime, startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let router: Simulator;
beforeAll(async () => {
  router = await startSimulator({ sshPort: null, version: '7.15.3', time: new ManualTime() });
});
afterAll(() => router.close());

/** Commands that do not end by themselves, or end the session. */
const UNFIT = ['listen', 'reboot', 'shutdown', 'ping', 'monitor', 'monitor-traffic', 'load', 'request-logout', 'execute', 'import'];
/** Menus whose changes lock the test out. */
const KEEP = /^\/(user|interface|ip\/(service|address|firewall\/filter))/;

function allCommands(path = ''): string[][] {
  const { menus } = router.router;
  const fit = menus
    .commands(path)
    .filter((command) => !UNFIT.includes(command) && (!KEEP.test(path) || ['print', 'get', 'add'].includes(command)));
  const here = fit.map((command) => [path, command]);
  return [...here, ...menus.children(path).flatMap((child) => allCommands(`${path}/${child}`))];
}

describe('whatever a client sends', () => {
  it("any command with any values is answered in the router's own words", async () => {
    await using client = await RawClient.login(router.apiPort);
    const value = fc.oneof(
      fc.constantFrom('', 'yes', '*1', '*FF', 'ether1', '10.0.0.1/24', '80-70', '99999999999999999999', 'startup', '1w2d'),
      fc.string(),
    );
    const call = fc.constantFrom(...allCommands()).chain(([path = '', command = '']) => {
      const names = [...(router.router.menus.parameters(path, command) ?? []), '.id', 'numbers', 'value-name'].filter(
        (name) => !name.startsWith('follow'),
      );
      const attribute = fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `=${name}=${text}`);
      return fc.array(attribute, { maxLength: 6 }).map((words) => [`${path}/${command}`, ...words]);
    });
    await fc.assert(
      fc.asyncProperty(call, async (words) => {
        const answer = await client.talk(...words);
        expect(answer.at(-1)?.[0]).toBe('!done');
        expect(answer.flat().filter((word) => word.includes('simulator error'))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  it('bytes that are no protocol end that connection and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        const client = await RawClient.open(router.apiPort);
        client.socket.end(Buffer.from(bytes));
        await client.closed();
      }),
      { numRuns: 100 },
    );
    await using client = await RawClient.login(router.apiPort);
    expect(await client.rows('/system/identity/print')).toHaveLength(1);
  });
});
