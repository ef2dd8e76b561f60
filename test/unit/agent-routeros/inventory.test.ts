import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inventoryLines, parseConsoleFacts, parseFacts, parseSections } from '../../../agent/routers/inventory.ts';

describe('the identity of a router', () => {
  const resource = {
    uptime: '1w3d15h41m57s',
    version: '7.18.2 (stable)',
    'board-name': 'hAP ac^2',
    'architecture-name': 'arm',
    platform: 'MikroTik',
  };
  const identity = { name: 'branch-7 Zürich' };

  it('is the serial number of a board', () => {
    const facts = parseFacts({
      resource,
      identity,
      routerboard: { routerboard: 'true', model: 'RBD52G-5HacD2HnD', 'serial-number': 'HCQ08FX50J7' },
      license: { 'software-id': 'ABCD-EF12', nlevel: '4', features: '' },
      clock: { 'time-zone-name': 'Europe/Zurich' },
    });
    expect(facts).toEqual({
      hardwareId: 'HCQ08FX50J7',
      serialNumber: 'HCQ08FX50J7',
      softwareId: 'ABCD-EF12',
      identity: 'branch-7 Zürich',
      softwareVersion: '7.18.2',
      model: 'RBD52G-5HacD2HnD',
      boardName: 'hAP ac^2',
      hardwareBoard: true,
      architecture: 'arm',
      timeZone: 'Europe/Zurich',
      uptime: '1w3d15h41m57s',
      uptimeSeconds: 920_517,
    });
  });

  it.each([
    ['CHR without the routerboard menu, by its system id', undefined, { 'system-id': '7WwsTkLUKQG', level: 'free' }, '7WwsTkLUKQG'],
    ['CHR with routerboard=false', { routerboard: 'false' }, { 'system-id': '7WwsTkLUKQG' }, '7WwsTkLUKQG'],
    ['x86, by its software id', { routerboard: 'no' }, { 'software-id': 'EQWC-5XJK' }, 'EQWC-5XJK'],
  ])('%s', (_what, routerboard, license, hardwareId) => {
    expect(parseFacts({ resource, identity, routerboard, license })).toMatchObject({
      hardwareId,
      serialNumber: null,
      hardwareBoard: false,
      model: null,
      timeZone: null,
    });
  });

  it('is refused when the router shows no id', () => {
    expect(() => parseFacts({ resource, identity })).toThrow('neither a serial number nor a software id');
  });

  it.each([
    ['serial_number', { routerboard: { routerboard: 'true', 'serial-number': 'HEX1\u200B' } }],
    ['software_id', { license: { 'software-id': '\u0410BCD-1234' } }],
  ])('is refused when an id only looks like another one: %s', (name, records) => {
    expect(() => parseFacts({ resource, identity, ...records })).toThrow(`${name} "`);
    expect(() => parseFacts({ resource, identity, ...records })).toThrow('printable ASCII characters only');
  });

  it('has no time zone when only an offset is set', () => {
    const clock = { 'time-zone-name': 'manual', 'gmt-offset': '+02:00' };
    expect(parseFacts({ resource, identity, license: { 'software-id': 'X' }, clock }).timeZone).toBeNull();
  });
});

describe('the inventory over a console', () => {
  const output = [
    '#signalbox resource',
    '                   uptime: 6w5d11h55m45s',
    '                  version: 6.48.6 (long-term)',
    '               build-time: Dec/03/2021 12:15:05',
    '        architecture-name: mipsbe',
    '               board-name: hEX PoE lite',
    '#signalbox identity',
    'name: lift: north',
    '#signalbox license',
    '  software-id: ABCD-EF12',
    '#signalbox clock',
    '        time-zone-name: Europe/Moscow',
    '#signalbox routerboard',
    ';;; Firmware upgraded successfully, please reboot for changes to take effect!',
    '       routerboard: yes',
    '             model: RouterBOARD 750UP r2',
    '     serial-number: 8B0208F4D5F9',
  ].join('\n');

  it('is the same as over the API', () => {
    expect(parseConsoleFacts(output)).toMatchObject({
      hardwareId: '8B0208F4D5F9',
      identity: 'lift: north',
      softwareVersion: '6.48.6',
      boardName: 'hEX PoE lite',
      model: 'RouterBOARD 750UP r2',
      hardwareBoard: true,
      timeZone: 'Europe/Moscow',
    });
  });

  it('reads the menu that may be missing in a separate line', () => {
    const lines = inventoryLines();
    expect(lines).toHaveLength(2);
    expect(lines[0]).not.toContain('routerboard');
    for (const line of lines) expect(line).not.toContain('\n');
  });

  it('does without the routerboard menu', () => {
    const chr = `${output.split('#signalbox routerboard')[0]}bad command name routerboard (line 1 column 9)`;
    expect(parseConsoleFacts(chr)).toMatchObject({ hardwareId: 'ABCD-EF12', hardwareBoard: false });
  });
});

/** Recorded from real routers and kept beside the project, not in it. */
const samples = path.resolve(import.meta.dirname, '../../../../shared/routeros/samples/cli-text');

describe.skipIf(!existsSync(samples))('recorded routers', () => {
  const read = (file: string): string => readFileSync(path.join(samples, file), 'utf8').replaceAll('\r\n', '\n');

  it.each([
    ['system_resource_print.v6.48.6-mipsbe.txt', '6.48.6', 'hEX PoE lite', 4_103_745],
    ['system_resource_print.v7.12.2-chr.txt', '7.12.2', 'CHR', 3_284_451],
  ])('%s', (file, version, board, uptimeSeconds) => {
    const text = `#signalbox resource\n${read(file)}\n#signalbox license\n  system-id: X`;
    expect(parseConsoleFacts(text)).toMatchObject({ softwareVersion: version, boardName: board, uptimeSeconds });
  });

  it.each([
    ['system_routerboard_print.v6-hex.txt', 'RB750Gr3', 'CC210E592C82'],
    ['system_routerboard_print.v6-hexpoelite.txt', 'RouterBOARD 750UP r2', '8B0208F4D5F9'],
    ['system_routerboard_print.v7-hapac3-warning.txt', 'RBD53iG-5HacD2HnD', 'HCQ08FX50J7'],
  ])('%s', (file, model, serial) => {
    const { routerboard } = parseSections(`#signalbox routerboard\n${read(file)}`);
    expect(routerboard).toMatchObject({ model, 'serial-number': serial });
  });

  it('clock before 7.10', () => {
    const { clock } = parseSections(`#signalbox clock\n${read('system_clock_print.pre7.10.txt')}`);
    expect(clock?.['time-zone-name']).toBe('Europe/Moscow');
  });
});

describe('an invalid text or value', () => {
  const resource = { uptime: '1w3d', version: '7.18.2 (stable)', 'board-name': 'hAP' };
  const routerboard = { routerboard: 'true', 'serial-number': 'HE\0X1' };
  const facts = (records: Partial<Parameters<typeof parseFacts>[0]>): ReturnType<typeof parseFacts> =>
    parseFacts({ resource, identity: { name: 'branch' }, routerboard, ...records });

  it('is cleaned, and the router is still identified', () => {
    expect(facts({ identity: { name: `br\0anch\u001B${'x'.repeat(300)}` } })).toMatchObject({
      hardwareId: 'HEX1',
      identity: `branch${'x'.repeat(249)}`,
      cleaned: ['name', 'serial-number'],
    });
  });

  it.each(['-5s', 'soon', '99999999w', '1\0d'])('is no uptime: %j', (uptime) => {
    const { uptimeSeconds, cleaned } = facts({ resource: { ...resource, uptime } });
    expect(uptime === '1\0d' ? uptimeSeconds : (uptimeSeconds ?? 'unknown')).toBe(uptime === '1\0d' ? 86_400 : 'unknown');
    expect(cleaned).toContain('uptime');
  });

  it.each(['../../etc/passwd', '+01:00', 'Nowhere/Land'])('is no time zone: %s', (zone) => {
    expect(facts({ clock: { 'time-zone-name': zone } })).toMatchObject({ timeZone: null, cleaned: ['serial-number', 'time-zone-name'] });
  });

  it('is not reported when there is none', () => {
    const clean = facts({ routerboard: { routerboard: 'true', 'serial-number': 'HEX1' }, clock: { 'time-zone-name': 'manual' } });
    expect(clean).not.toHaveProperty('cleaned');
  });
});
