import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readConditions } from '../../server/operations/own-warnings/conditions.ts';
import { ownWarnings } from '../../server/operations/own-warnings/feature.ts';
import type { Config } from '../../server/config.ts';
import type { Cluster } from '../../server/feature.ts';
import type { Conditions } from '../../server/operations/own-warnings/conditions.ts';
import { OwnWarnings } from '../../server/operations/own-warnings/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { silentLog } from '../harness/silent-log.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import { sayCauses } from '../../server/platform/notices/causes.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-01-05T12:00:00Z');
const run = promisify(execFile);

describeEachDatabase('warnings of the control plane about itself', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let bench: NotifyBench;
  let conditions: Conditions;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    bench = new NotifyBench(storage, clock);
    conditions = { certificate: [], disk: [] };
    for (const [name, kinds] of [
      ['ada', ['server.*']],
      ['eve', ['fault.*']],
    ] as const) {
      const { teamId } = await seedRouter(storage);
      await seedPerson(storage, teamId, `${name}@example.net`, await followKinds(storage, teamId, kinds));
    }
  });

  /** A look of any process. */
  async function look(): Promise<void> {
    await new OwnWarnings({ storage, clock, read: async () => conditions }).check();
    await bench.pass(MINUTE);
  }

  test('reach those who follow them, once, and so does their end', async () => {
    await look();
    expect(bench.server.mails).toEqual([]);
    conditions = { certificate: [], disk: [{ code: 'server_disk', megabytes: 512 }] };
    for (let n = 0; n < 3; n += 1) await look();
    expect(bench.server.mails.map(({ to, kind, subject }) => `${to} ${kind} ${subject}`)).toEqual([
      expect.stringContaining('ada@example.net open Signalbox server: disk space is running out'),
    ]);
    conditions = { certificate: [{ code: 'certificate_ends', at: START }], disk: [] };
    await look();
    await look();
    expect(bench.server.kindsOf('ada@example.net').toSorted()).toEqual(['open', 'open', 'resolve']);
    expect(bench.server.kindsOf('eve@example.net')).toEqual([]);
  });

  test('of several control planes come from one of them, and end when no certificate is left that ends', async () => {
    const ends = { one: null, two: START + 20 * MINUTE };
    for (const [id, endsAt] of Object.entries(ends)) {
      const node = { name: id, version: '1', process: null, beat: 0, public_url: `https://${id}.example.net`, started_at: START };
      await storage.db
        .insertInto('nodes')
        .values({ id, ...node, program_schema: null, keys: null, certificate_ends_at: endsAt })
        .execute();
    }
    let owner = 'two';
    const config = { tls: null, databaseUrl: 'postgres://localhost/x' } as Config;
    const members = { isOwn: () => owner === 'one' };
    const cluster = { nodeId: 'one', members } as unknown as Cluster;
    const own = ownWarnings.create({ config, storage, clock, log: silentLog, cluster });
    onTestFinished(() => own.ownWatch.stop());
    const lookAgain = async (): Promise<void> => {
      await own.noteOwn();
      if (members.isOwn()) await own.ownWarnings.check();
      await bench.pass(MINUTE);
    };
    await lookAgain();
    expect(bench.server.mails).toEqual([]);
    owner = 'one';
    await lookAgain();
    await lookAgain();
    expect(bench.server.mails.map(({ subject }) => subject)).toEqual([expect.stringContaining('the TLS certificate needs attention')]);
    const told = await storage.db.selectFrom('notices').select('data').where('phase', '=', 'open').executeTakeFirstOrThrow();
    expect(JSON.stringify(told.data)).toMatch(/two\.example\.net: expires on \S/);
    await storage.db
      .updateTable('nodes')
      .set({ certificate_ends_at: START + 365 * 24 * 60 * MINUTE })
      .execute();
    await lookAgain();
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
  });
});

describe('its machine', () => {
  test('has a disk that is looked at for SQLite, and a certificate only if there is one', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-own-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const postgres = { tls: null, databaseUrl: 'postgres://localhost/x' };
    expect(await readConditions(postgres, START)).toEqual({ certificate: [], disk: [] });
    const { disk } = await readConditions({ tls: null, databaseUrl: `sqlite:${folder}/x.db` }, START);
    expect(disk.length === 0 || /^\d+ MB free$/.test(sayCauses(disk))).toBe(true);
  });

  test('has a certificate that is looked at two weeks before it expires', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-own-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const files = { certFile: path.join(folder, 'c.pem'), keyFile: path.join(folder, 'k.pem') };
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', files.keyFile];
    await run('openssl', ['req', '-x509', ...key, '-days', '90', '-subj', '/CN=signalbox.test', '-out', files.certFile]);
    const at = async (time: number) => (await readConditions({ tls: files, databaseUrl: 'postgres://localhost/x' }, time)).certificate;
    const end = Date.parse(new X509Certificate(await readFile(files.certFile)).validTo);
    const DAY = 24 * 60 * MINUTE;
    expect(await at(end - 20 * DAY)).toEqual([]);
    expect(await at(end - 10 * DAY)).toEqual([{ code: 'certificate_ends', at: end }]);
    expect(await at(end + DAY)).toEqual([{ code: 'certificate_ended', at: end }]);
  });
});
