import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeAgentMessage } from '../../../protocol/index.ts';
import { cleanLines, cleanText, countCleaned, ipAddressFact, timeZoneFact, uptimeFact } from '../../../routeros-text/router-text.ts';

describe('text', () => {
  it.each([
    ['lift north', 'lift north'],
    ['Büro Süd ☕ Łódź 👩‍🔧', 'Büro Süd ☕ Łódź 👩‍🔧'],
    ['a\0b', 'ab'],
    ['\0', ''],
    ['line\r\nfeed\ttab', 'linefeedtab'],
    ['\u001B[31mred\u009B0m', '[31mred0m'],
    ['exe\u202Egpj', 'exegpj'],
    ['half \uD83D', 'half \uFFFD'],
    ['\uDC00 half', '\uFFFD half'],
  ])('%j is kept as %j', (text, expected) => {
    expect(cleanText(text, 50)).toBe(expected);
  });

  it('is cut between characters', () => {
    expect(cleanText('x'.repeat(1_000_000), 255)).toHaveLength(255);
    expect(cleanText('ab👩', 3)).toBe('ab');
  });

  test('is always short, one line and well formed, and a second cleaning changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, max) => {
        const clean = cleanText(text, max);
        expect(clean.length).toBeLessThanOrEqual(max);
        expect(clean).not.toMatch(/\p{Cc}/u);
        expect(clean.isWellFormed()).toBe(true);
        expect(cleanText(clean, max)).toBe(clean);
      }),
    );
  });
});

describe('lines', () => {
  it.each([
    ['one\r\ntwo\nthree', 'one\ntwo\nthree'],
    ['\0\u001B[31mno\t\u202E', '[31mno'],
    ['half \uD83D', 'half \uFFFD'],
  ])('%j are kept as %j', (text, expected) => {
    expect(cleanLines(text, 50)).toBe(expected);
  });

  it('are cut between characters', () => {
    expect(cleanLines('ab👩', 3)).toBe('ab');
    expect(cleanLines('x\n'.repeat(1_000_000), 255)).toHaveLength(255);
  });

  it.each([
    [
      'reply',
      { type: 'reply', id: 1, outcome: { ok: false, error: { code: 'rejected', message: 'no\0 \u001B[2J\nway' } } },
      ['outcome', 'error', 'message'],
    ],
    [
      'job.ended',
      {
        type: 'job.ended',
        job_id: '01890000-0000-7000-8000-000000000000',
        result: { outcome: 'failed', reason: 'script_error', error: 'no\0 \u001B[2J\nway', output: null, output_truncated: false },
      },
      ['result', 'error'],
    ],
  ])('of an error in %s are cleaned by the control plane, too', (_type, message, at) => {
    const decoded = decodeAgentMessage(JSON.stringify(message));
    expect(
      at.reduce(
        (value: unknown, name) => (value as Record<string, unknown>)[name],
        decoded.kind === 'message' ? decoded.message : undefined,
      ),
    ).toBe('no [2J\nway');
  });
});

describe('a fact', () => {
  it.each(['10.0.0.1', '2001:db8::1', 'fe80::1%ether1'])('is the address %s', (text) => expect(ipAddressFact(text)).toBe(text));
  it.each(['999.1.1.1', '', 'pool1', '10.0.0.1/24', '10.0.0.1\0', '1', '::g'])('is not the address %j', (text) =>
    expect(ipAddressFact(text)).toBeUndefined(),
  );
  it.each(['Europe/Zurich', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+5'])('is the time zone %s', (text) =>
    expect(timeZoneFact(text)).toBe(text),
  );
  it.each(['../../etc/passwd', 'Europe/Zurich/../x', 'Nowhere/Land', '+01:00', '', 'Europe/Zurich\0'])('is not the time zone %j', (text) =>
    expect(timeZoneFact(text)).toBeUndefined(),
  );
  it.each([
    [0, 0],
    [5, 5],
    [-5, undefined],
    [Number.NaN, undefined],
    [1e12, undefined],
    [undefined, undefined],
  ])('of the uptime %d is %d', (seconds, expected) => expect(uptimeFact(seconds)).toBe(expected));
});

describe('a message of an agent', () => {
  const device = (mac: string, more: object = {}): object => ({ mac, ip: '10.0.0.1', hostname: 'camera', ...more });
  const decode = (message: object): ReturnType<typeof decodeAgentMessage> => decodeAgentMessage(JSON.stringify(message));
  const devices = (list: object[], gone: string[] = []): object => ({
    type: 'devices',
    router: 'one',
    kind: 'full',
    first: true,
    last: true,
    devices: list,
    gone,
  });

  it('keeps the devices beside a hostile one', () => {
    const [good, bad] = ['AA:00:00:00:00:01', 'AA:00:00:00:00:02'];
    const long = 'x'.repeat(10_000);
    const decoded = decode(
      devices([device(good), device(bad, { hostname: 'ca\0mera', ip: '999.1.1.1', interface: long })], [good, 'no address']),
    );
    expect(decoded).toMatchObject({
      kind: 'message',
      cleaned: 4,
      message: { gone: [good], devices: [device(good), { mac: bad, hostname: 'camera', ip: undefined, interface: long.slice(0, 128) }] },
    });
  });

  it('omits invalid devices, and counts them', () => {
    const good = 'AA:00:00:00:00:01';
    const decoded = decode(devices([device('AA\0'), device(good), device(good, { seen_ago: -1 }), 7 as unknown as object]));
    expect(decoded).toMatchObject({ kind: 'message', cleaned: 3, message: { devices: [device(good)] } });
  });

  it('identifies a router whatever its facts contain', () => {
    const facts = {
      hardware_id: 'SER\0IAL',
      serial_number: 'SER\0IAL',
      software_id: null,
      identity: `br\0anch${'y'.repeat(300)}`,
      software_version: '7.18.2\u0001',
      model: null,
      board_name: 'hAP',
      hardware_board: true,
      architecture: null,
      time_zone: '../../etc/passwd',
      uptime: '-5s',
      uptime_seconds: -5,
    };
    expect(decode({ type: 'inventory', router: 'one', facts })).toMatchObject({
      kind: 'message',
      cleaned: 6,
      message: {
        facts: { hardware_id: 'SERIAL', serial_number: 'SERIAL', software_version: '7.18.2', time_zone: null, uptime_seconds: null },
      },
    });
  });

  it('without cleaned values has no count', () => {
    expect(decode(devices([device('AA:00:00:00:00:01')]))).not.toHaveProperty('cleaned');
    expect(countCleaned({ a: [1, { b: 'x', unknown: 1 }] }, { a: [1, { b: 'x' }] })).toBe(0);
  });

  test('is unchanged by a second cleaning, and accepts any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    const seen = fc.record({ mac: fc.constant('AA:00:00:00:00:01'), ip: text, interface: text, hostname: text });
    fc.assert(
      fc.property(fc.array(seen, { maxLength: 5 }), (list) => {
        const once = decode(devices(list));
        if (once.kind !== 'message') throw new Error(`refused: ${JSON.stringify(once)}`);
        expect(decode(once.message)).toEqual({ kind: 'message', message: JSON.parse(JSON.stringify(once.message)) });
      }),
    );
  });
});
