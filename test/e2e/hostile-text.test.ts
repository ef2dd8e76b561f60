import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../harness/databases.ts';
import { databaseKinds } from '../harness/databases.ts';
import { RecordedLog } from '../harness/recorded-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { textOfBytes } from '../simulator/api/words.ts';
import type { Simulator } from '../simulator/index.ts';

/**
 * A router whose every text is hostile, beside one that is well and one that refuses the login: what comes out of the HTTP API
 * is text and fact, nothing beside it is lost, and somebody is told.
 */

/** NUL, escape sequences, bytes that are no UTF-8, text that turns around, and more of it than anybody wants. */
const BYTES = textOfBytes(
  Buffer.concat([Buffer.from('\0\u001B[31m\u0007\u202E'), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from('y'.repeat(10_000))]),
);
/** Stands in the router's tables for {@link BYTES}, which only the wire can carry. */
const MARK = 'HOSTILE';
/** Control characters, lone surrogates and marks of direction. */
const UNCLEAN = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;

/** The same name, spelt so that it is UTF-8 even on a router that prints it. */
const IDENTITY = `router-0\0\u001B[31m${MARK}`;

function spoilWords({ router, faults, setSensor, setPoeOut }: Simulator, version: string): void {
  faults.spoil = (_path, _name, value) => value.replaceAll(MARK, BYTES);
  const set = (menu: string, values: Record<string, string>): void =>
    router.table(menu).update(router.table(menu).items[0]!, Object.entries(values));
  set('/system/identity', { name: IDENTITY });
  set('/system/resource', {
    version: `${version}${MARK} (stable)`,
    uptime: '-5s',
    'board-name': `hEX${MARK}`,
    'architecture-name': `mmips${MARK}`,
  });
  set('/interface', { comment: `uplink ${MARK}` });
  for (const [address, mac, port] of [
    ['192.168.88.240', '02:00:00:00:00:40', `bridge${MARK}`],
    ['999.1.1.1', '02:00:00:00:00:41', 'bridge'],
    ['192.168.88.242', '02:00:00:00:00:42', 'bridge'],
  ]) {
    router.table('/ip/arp').add([
      ['address', address!],
      ['mac-address', mac!],
      ['interface', port!],
      ['complete', 'true'],
      ['status', 'reachable'],
    ]);
  }
  for (const [address, mac, host] of [
    ['192.168.88.243', '02:00:00:00:00:43', `printer${MARK}`],
    ['192.168.88.244', '02:00:00:00:00:44', 'camera'],
  ]) {
    router.table('/ip/dhcp-server/lease').add([
      ['address', address!],
      ['mac-address', mac!],
      ['active-address', address!],
      ['active-mac-address', mac!],
      ['status', 'bound'],
      ['host-name', host!],
      ['last-seen', '5s'],
    ]);
  }
  setPoeOut('ether5', `short-circuit\0`);
  if (router.version.major >= 7) setSensor('psu2-state\0', 'fail\u0007');
}

interface Listed {
  id: string;
  identity: string;
  [property: string]: unknown;
}

describe.each(databaseKinds().flatMap((kind) => ['7.18.2', '6.49.10'].map((version) => ({ ...kind, version }))))(
  'hostile text of RouterOS $version on $name',
  ({ create, version }) => {
    let database: TestDatabase;
    let world: World;
    let hostile: Listed;
    const log = new RecordedLog();

    const get = async <T>(url: string): Promise<T> => (await world.caller.call<{ data: T }>('GET', url)).body.data;
    const routers = async (): Promise<Listed[]> => get('/api/routers');

    beforeAll(async () => {
      database = await create();
      world = await World.start({
        databaseUrl: database.url,
        agentLog: log,
        readEveryMs: 300,
        routers: [
          { version, model: 'hEX', serialNumber: 'SER\0IAL\u001B0\u0007' },
          { version, model: 'hEX' },
          { version, users: [{ name: 'signalbox', password: `another ${MARK}` }] },
          { version, model: 'hEX', serialNumber: `SERIAL${MARK}` },
        ],
        prepare: ([first, , third, fourth]) => {
          fourth!.faults.spoil = (_path, _name, value) => value.replaceAll(MARK, BYTES);
          spoilWords(first!, version);
          third!.faults.spoil = (_path, _name, value) => value + BYTES;
        },
      });
      hostile = await waitUntil('the router is listed with a pulse', async () =>
        (await routers()).find(({ identity, has_pulse: pulse }) => identity.startsWith('router-0') && pulse === true),
      );
      await waitUntil('its neighbour is, too', async () =>
        (await routers()).find(({ identity, has_pulse: pulse }) => identity === 'router-1' && pulse === true),
      );
    });
    afterAll(async () => {
      await world.close();
      await database.remove();
    });

    it('identity, serial, version, model and board are cleaned and truncated', async () => {
      const texts = Object.values(await get<object>(`/api/routers/${hostile.id}`)).filter((value) => typeof value === 'string');
      expect(texts.filter((text) => UNCLEAN.test(text) || text.length > 255)).toEqual([]);
      expect(hostile['identity']).toMatch(/^router-0\[31m.*yyy$/);
      expect(hostile).toMatchObject({ serial_number: 'SERIAL0', software_version: expect.stringMatching(/^7|^6/), uptime: null });
      expect(
        log.shown
          .filter(({ level, router }) => level === 'warn' && router === 'router-0')
          .map(({ message, properties }) => [message, properties]),
      ).toContainEqual([
        'the inventory of the router has invalid text or values, which were cleaned',
        expect.stringMatching(/version.*board-name.*name.*serial-number.*uptime/),
      ]);
    });

    it('one hostile host name, interface or address loses no device', async () => {
      const list = await waitUntil('the devices are listed', async () => {
        const found = await get<{ mac_address: string; hostname: string | null }[]>('/arp/devices?limit=100');
        return (
          found.some(({ mac_address: mac }) => mac === '02:00:00:00:00:44') && found.filter(({ mac_address: mac }) => mac.startsWith('02:'))
        );
      });
      const byMac = Object.fromEntries(list.map((device) => [device.mac_address, device]));
      expect(Object.keys(byMac)).toEqual(expect.arrayContaining(['40', '41', '42', '43', '44'].map((end) => `02:00:00:00:00:${end}`)));
      expect(byMac['02:00:00:00:00:44']?.hostname).toBe('camera');
      expect(byMac['02:00:00:00:00:43']?.hostname).toMatch(/^printer\[31m.*y$/);
      expect(JSON.stringify(list)).not.toContain('999.1.1.1');
      expect(
        JSON.parse(JSON.stringify(list), (_key, value: unknown) => (typeof value === 'string' && UNCLEAN.test(value) ? 'unclean' : value)),
      ).toEqual(list);
      expect(log.shown).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          router: 'router-0',
          message: 'names or addresses of devices had invalid text or values, and were cleaned',
        }),
      );
    });

    it('a control character in a sensor, port or state hides no fault', async () => {
      const expected = version.startsWith('7') ? ['poe_out_failed', 'power_supply_failed'] : ['poe_out_failed'];
      const faults = await waitUntil('the faults are open', async () => {
        const found = (await get<{ type: string; message: string; cause: string }[]>(`/api/routers/${hostile.id}/faults`)).filter(
          ({ type }) => expected.includes(type),
        );
        return found.length === expected.length && found;
      });
      expect(faults.map(({ type }) => type).toSorted()).toEqual(expected);
      for (const { message, cause } of faults) expect(`${message} ${cause}`).not.toMatch(UNCLEAN);
      expect(log.shown).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          router: 'router-0',
          message: 'names or words of sensors, ports or disks had invalid text or values, and were cleaned',
        }),
      );
    });

    const run = async (command: string, parameters = '') =>
      world.caller.call<{ data: Record<string, string>[]; message: string }>('POST', `/api/synchronous/${hostile.id}`, {
        command,
        parameters,
      });

    it('a command returns all rows unchanged', async () => {
      const answer = await run('/interface/print');
      expect(answer.status).toBe(200);
      expect(answer.body.data).toHaveLength(world.simulators[0]!.items('/interface').length);
      const comment = answer.body.data[0]?.['comment'] ?? '';
      expect(comment.startsWith('uplink \0\u001B[31m\u0007')).toBe(true);
      expect(comment).toMatch(/y{10000}$/);
      expect(comment.isWellFormed()).toBe(true);
    });

    const reasonOf = async (entry: string): Promise<string> => {
      const { agent_id: agentId } = JSON.parse(await readFile(path.join(world.folder, 'credentials.json'), 'utf8')) as { agent_id: string };
      return waitUntil('the reason is told', async () => {
        const { routers: entries } = await get<{ routers: { name: string; reason: string | null }[] }>(`/api/agents/${agentId}/routers`);
        return entries.find(({ name }) => name === entry)?.reason ?? undefined;
      });
    };

    it('a refusal of the router is reported as plain text', async () => {
      world.simulators[0]!.faults.spoil = (_path, name, value) => (name === 'message' ? `${value}${BYTES}` : value.replaceAll(MARK, BYTES));
      const answer = await run('/ip/address/add', '=address=1.2.3.4/24\n=interface=nowhere');
      expect(answer.status).toBe(422);
      expect(answer.body.message).toMatch(/^input does not match any value of interface/);
      expect(answer.body.message).toMatch(/y{1000}/);
      expect(answer.body.message.length).toBeLessThanOrEqual(5000);
      expect(answer.body.message).not.toMatch(UNCLEAN);
    });

    it('a look-alike serial number is refused and reported', async () => {
      const reason = await reasonOf('router-3');
      expect(reason).toMatch(/^inventory: serial_number "SERIAL.* may hold printable ASCII characters only/);
      expect(reason).not.toMatch(UNCLEAN);
    });

    it('the reason of a refused login is plain text', async () => {
      const reason = await reasonOf('router-2');
      expect(reason).toMatch(/user name or password|cannot log in/);
      expect(reason).not.toMatch(UNCLEAN);
      // No line is longer than the longest message of an error.
      for (const line of log.shown) expect(JSON.stringify(line).length).toBeLessThan(5000);
      for (const line of log.shown) expect(String(line['reason'])).not.toMatch(UNCLEAN);
    });

    interface Job {
      phase: string;
      status: string;
      output: string | null;
      error: string | null;
      backup: string | null;
    }

    const runJob = async (script: string, makeBackup = false): Promise<Job> => {
      const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${hostile.id}`, {
        description: 'hostile',
        script,
        make_backup: makeBackup,
        express_execute: true,
        needs_acknowledgement: true,
      });
      const url = `/api/routers/${hostile.id}/jobs/${body.data.job_id}`;
      return waitUntil(
        'the job has ended',
        async () => {
          const job = await get<Job>(url);
          return (job.phase === 'done' || job.phase === 'unknown') && (!makeBackup || job.backup !== null) && job;
        },
        30_000,
      );
    };

    it('the output of a job is stored without characters that no database accepts', async () => {
      const job = await runJob(`:put "before"; :put "${MARK}"; :put "after"`);
      expect(job).toMatchObject({ status: 'completed', error: null });
      expect(job.output?.startsWith('before\n\uFFFD\u001B[31m\u0007')).toBe(true);
      expect(job.output).toMatch(/y{10000}\nafter\n?$/);
      expect(job.output?.isWellFormed()).toBe(true);
    });

    it('the error of a job is plain text, and the next job runs', async () => {
      const failed = await runJob(`:error "no way: ${MARK}"`);
      expect(failed).toMatchObject({ status: 'failed' });
      expect(failed.error).toMatch(/^no way: .*y/);
      expect(failed.error).not.toMatch(UNCLEAN);
      expect(await runJob(':put "well"')).toMatchObject({ status: 'completed', output: expect.stringMatching(/^well\n?$/) });
    });

    it('an export with hostile names can be printed, backed up, downloaded and compared', async () => {
      const printed = await run('/export');
      expect(printed.status).toBe(200);
      expect(JSON.stringify(printed.body.data)).toContain('router-0');
      const job = await runJob('/system note set note="changed"', true);
      expect(job).toMatchObject({ status: 'completed', backup: expect.any(String) });
      const backup = await waitUntil(
        'all of it is stored',
        async () => {
          const found = await get<{ id: string; state: string; parts: { part: string; size: number }[] }[]>(
            `/api/routers/${hostile.id}/backups`,
          );
          return found.find(({ id, state }) => id === job.backup && state === 'stored');
        },
        30_000,
      );
      const part = backup.parts.find(({ part: name }) => name === 'export')!;
      const download = await fetch(`${world.server.url}/api/routers/${hostile.id}/backups/${backup.id}?part=export`, {
        headers: { authorization: `Bearer ${world.caller.apiKey}` },
      });
      const bytes = Buffer.from(await download.arrayBuffer());
      expect(bytes).toHaveLength(part.size);
      expect(bytes.toString('latin1')).toContain('router-0\0\u001B[31m');
    });

    it('other routers lose nothing', async () => {
      const [neighbour] = (await routers()).filter(({ identity }) => identity === 'router-1');
      expect(neighbour).toMatchObject({ serial_number: 'SERIAL1', has_pulse: true, uptime: expect.any(String) });
      expect(await get<unknown[]>(`/api/routers/${neighbour!.id}/faults`)).toEqual([]);
    });
  },
);
