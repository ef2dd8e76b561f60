import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROUTER_REASONS } from '../../../protocol/index.ts';
import type { HealthReadings } from '../../../protocol/index.ts';
import { HEALTH_RULES } from '../../../server/fleet/faults/health-rules.ts';
import { RouterWatch } from '../../../server/fleet/faults/watch.ts';
import { NOT_REPORTED } from '../../../server/fleet/states/types.ts';
import { CAUSES, parseCauses, readCauses, sayCauses, storableCauses } from '../../../server/platform/notices/causes.ts';
import type { Cause, CauseCode } from '../../../server/platform/notices/causes.ts';
import { CATALOGUES } from '../../../server/outbound/notifications/texts/catalogues.ts';
import { writeText } from '../../../server/outbound/notifications/texts/write.ts';
import { CORE, MADRID, reader, viewOf } from '../../harness/notify/views.ts';

/** One of each code: a new one does not compile without. */
const ONE_OF_EACH: { [Code in CauseCode]: Extract<Cause, { code: Code }> } = {
  agent_away: { code: 'agent_away' },
  no_answer: { code: 'no_answer', reason: 'refused', said: 'connection refused (ECONNREFUSED)' },
  not_reported: { code: 'not_reported' },
  uptime_back: { code: 'uptime_back', before: 277_200, after: 20 },
  cpu_load: { code: 'cpu_load', percent: 97.25 },
  celsius: { code: 'celsius', name: 'cpu-temperature', celsius: 96.25 },
  input_volts: { code: 'input_volts', volts: 7.2 },
  disk_free: { code: 'disk_free', percent: 0.5, free: 81_920, total: 16_777_216 },
  wan_partly: { code: 'wan_partly', interfaces: 'ether1', left: 1, all: 2 },
  wan_none: { code: 'wan_none', interfaces: 'ether1, lte1' },
  clock_offset: { code: 'clock_offset', seconds: -61 },
  part_state: { code: 'part_state', name: 'psu1-state', state: 'fail' },
  part_volts: { code: 'part_volts', name: 'psu1-voltage', volts: 0 },
  fan_stands: { code: 'fan_stands', name: 'fan1-speed' },
  fan_rpm: { code: 'fan_rpm', name: 'fan1-speed', rpm: 4000 },
  poe_status: { code: 'poe_status', name: 'ether2', status: 'short-circuit' },
  bad_blocks: { code: 'bad_blocks', percent: 7 },
  disks_healthy: { code: 'disks_healthy' },
  signal_dbm: { code: 'signal_dbm', name: 'lte1', dbm: -125 },
  not_registered: { code: 'not_registered', name: 'lte1' },
  devices_kept: { code: 'devices_kept', total: 100_000, most: 20_000 },
  claimed_by: { code: 'claimed_by', agent: 'depot-new', address: '203.0.113.9', entry: 'x' },
  more_claims: { code: 'more_claims', count: 2 },
  held_by: { code: 'held_by', agent: 'depot-old', address: '', entry: 'a' },
  same_serial: { code: 'same_serial', holder: '"a"', others: '"b"', more: 2, id: 'HX1' },
  certificate_ends: { code: 'certificate_ends', at: Date.UTC(2026, 10, 30, 12) },
  certificate_ended: { code: 'certificate_ended', at: Date.UTC(2026, 10, 30, 12) },
  server_disk: { code: 'server_disk', megabytes: 512 },
};

const TRANSLATED = ['de', 'es'] as const;
const say = (causes: readonly Cause[], locale: 'en' | 'de' | 'es'): string => sayCauses(causes, CATALOGUES[locale].causes);

function expectTranslated(causes: readonly Cause[]): void {
  expect(causes.length).toBeGreaterThan(0);
  for (const locale of TRANSLATED)
    for (const cause of causes) {
      const text = say([cause], locale);
      expect(text, `${cause.code} in ${locale}`).toMatch(/\p{L}/u);
      expect(text, `${cause.code} in ${locale}`).not.toBe(say([cause], 'en'));
      expect(text, `${cause.code} in ${locale}`).not.toMatch(/undefined|NaN|\[object/);
    }
}

const SILENT: HealthReadings = {
  cpu_load: null,
  temperatures: [],
  voltage: null,
  free_memory: null,
  total_memory: null,
  free_hdd: null,
  total_hdd: null,
  clock_offset_seconds: null,
  wan: [],
  position: null,
};

/** What each rule can find. */
const READINGS: readonly Partial<HealthReadings>[] = [
  { cpu_load: 97 },
  { temperatures: [{ name: 'board', celsius: 96 }] },
  { voltage: 7.2 },
  { free_hdd: 0, total_hdd: 16_777_216 },
  { wan: [{ interface: 'ether1', running: false }] },
  {
    wan: [
      { interface: 'ether1', running: false },
      { interface: 'lte1', running: true },
    ],
  },
  { clock_offset_seconds: 61 },
  { states: [{ name: 'psu1-state', state: 'fail' }] },
  { supplies: [0, 12].map((volts, index) => ({ name: `psu${index}-voltage`, volts })) },
  { states: [{ name: 'fan-state', state: 'fail' }] },
  { fans: [0, 4000].map((rpm, index) => ({ name: `fan${index}-speed`, rpm })) },
  { fans: [3900, 4000].map((rpm, index) => ({ name: `fan${index}-speed`, rpm })) },
  { states: [{ name: 'switch-state', state: 'error' }] },
  { poe: [{ interface: 'ether2', status: 'overload' }] },
  { bad_blocks: 7 },
  { bad_disks: [] },
  { bad_disks: [{ name: 'nvme1', state: 'raid-member-failed' }] },
  { signals: [{ interface: 'lte1', kind: 'lte', dbm: -125 }] },
  { signals: [{ interface: 'lte1', kind: 'lte', dbm: null }] },
];

describe('what the rules find has German and Spanish words', () => {
  test.each(HEALTH_RULES.map((rule) => [rule.type, rule] as const))('%s', (_, rule) => {
    const found = READINGS.flatMap((readings) => rule.judge({ ...SILENT, ...readings }, undefined) ?? []);
    expect(found.some(({ verdict }) => verdict === 'bad')).toBe(true);
    for (const { causes } of found) expectTranslated(causes);
  });

  test('outages and reboots', () => {
    const rules = { heartbeatMs: 30_000, offlineAfterMs: 75_000 };
    const watch = () => new RouterWatch(rules, { uptimeSeconds: 90_000, lastSeenAt: 0, openFaults: [], watchedSince: 0 });
    const verdict = (state: 'not_answering' | 'agent_away', reason: string) => ({ state, since: 0, reason });
    const changes = [
      ...watch().onState(verdict('not_answering', 'refused'), 600_000),
      ...watch().onState(verdict('not_answering', NOT_REPORTED), 600_000),
      ...watch().onState(verdict('agent_away', 'network'), 600_000),
      ...watch().onHeartbeat({ reachable: true, uptimeSeconds: 20, reason: null }, 600_000),
    ];
    const findings = changes.flatMap((change) => ('finding' in change ? [change.finding] : []));
    expect(findings).toHaveLength(4);
    for (const { causes } of findings) expectTranslated(causes);
  });

  test.each(Object.values(ONE_OF_EACH))('$code', (cause) => {
    expectTranslated([cause]);
  });

  test.each(ROUTER_REASONS)('a router that does not answer: %s', (reason) => {
    expectTranslated([{ code: 'no_answer', reason, said: '' }]);
  });
});

test('the words are those that people use', () => {
  const { no_answer: refused, uptime_back: reboot, disk_free: disk, clock_offset: clock, certificate_ends: certificate } = ONE_OF_EACH;
  const plain = (text: string): string => text.replaceAll(/[\u00A0\u202F]/g, ' ');
  const inAll = (cause: Cause): string[] => (['en', 'de', 'es'] as const).map((locale) => plain(say([cause], locale)));
  expect(inAll(refused)).toEqual([
    'connection refused (ECONNREFUSED)',
    'Verbindung abgelehnt; läuft der Dienst auf diesem Port?',
    'conexión rechazada; ¿está activo el servicio en ese puerto?',
  ]);
  expect(inAll(reboot)).toEqual([
    'its uptime went back from 3 days 5 hours to 20 seconds',
    'Betriebszeit vorher 3 Tage 5 Stunden, jetzt 20 Sekunden',
    'tiempo de actividad antes 3 días 5 horas, ahora 20 segundos',
  ]);
  expect(inAll(disk)[1]).toBe('0,5 % frei (80 von 16.384 KiB)');
  expect(inAll(clock)).toEqual(['it is 1 minute 1 second behind', 'sie geht 1 Minute 1 Sekunde nach', 'atrasa 1 minuto 1 segundo']);
  expect(inAll(certificate)).toEqual(['expires on 2026-11-30', 'läuft am 30. November 2026 ab', 'caduca el 30 de noviembre de 2026']);
});

test('the words of an agent are quoted where the code says too little', () => {
  const cause: Cause = { code: 'no_answer', reason: 'tls', said: 'the certificate has expired' };
  expect(say([cause], 'de')).toBe('TLS-Verbindung gescheitert: „the certificate has expired“');
  expect(say([{ ...cause, reason: 'a newer one' }], 'es')).toBe('no responde a su agente: «the certificate has expired»');
});

test('a router says whether it is too hot or too cold', () => {
  const subjectAt = (celsius: number, locale: 'en' | 'de'): string => {
    const causes: Cause[] = [{ code: 'celsius', name: 'board', celsius }];
    return writeText(viewOf({ type: 'router', router: CORE, site: MADRID, fault: 'temperature', detail: '', causes }), reader(locale))
      .subject;
  };
  expect(subjectAt(-30, 'en')).toContain('too cold');
  expect(subjectAt(95, 'de')).toContain('zu heiß');
});

describe('causes as they are stored', () => {
  const anyCause = fc.constantFrom(...Object.values(ONE_OF_EACH));

  test('come back, bounded', () => {
    fc.assert(
      fc.property(fc.array(anyCause, { maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 2000 }), (causes, name) => {
        const named = [...causes, { code: 'not_registered', name } as const];
        const stored = JSON.stringify(storableCauses(named));
        expect(stored.length).toBeLessThan(30_000);
        expect(parseCauses(stored)).toEqual(storableCauses(named));
      }),
    );
  });

  test('of another version are not half understood', () => {
    expect(parseCauses(null)).toEqual([]);
    expect(readCauses(undefined)).toEqual([]);
    expect(readCauses([{ code: 'cpu_load', percent: 97 }, { code: 'of_tomorrow' }])).toEqual([]);
    expect(readCauses([{ code: 'constructor' }])).toEqual([]);
    expect(Object.keys(ONE_OF_EACH)).toEqual(Object.keys(CAUSES));
  });
});
