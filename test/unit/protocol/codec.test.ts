import { describe, expect, test } from 'vitest';
import {
  agentMessages,
  decodeAgentMessage,
  decodeServerMessage,
  encodeMessage,
  MAX_OPEN_JOBS_PER_AGENT,
  MAX_OUTPUT_BYTES,
  MAX_SCRIPT_CHARS,
  serverMessages,
} from '../../../protocol/index.ts';
import type { AgentMessage, ServerMessage } from '../../../protocol/index.ts';

const JOB = '0198c0de-0000-7000-8000-00000000000a';
const FORWARD = '0198c0de-0000-7000-8000-00000000000f';
const AGENT = '0198c0de-0000-7000-8000-000000000001';
const JOURNAL = '0198c0de-0000-7000-8000-000000000002';
const RESULT = {
  outcome: 'failed',
  reason: 'script_error',
  error: 'expected end of command',
  output: 'a\r\n',
  output_truncated: false,
} as const;

const agentExamples: AgentMessage[] = [
  { type: 'hello', versions: [1], agent_version: '1.0.0', journal_id: JOURNAL, last_epoch: 0, routers: ['depot'] },
  {
    type: 'ready',
    epoch: 3,
    journal_id: JOURNAL,
    jobs: [
      { job_id: JOB, state: 'accepted' },
      { job_id: JOB, state: 'ended', result: RESULT },
    ],
  },
  { type: 'heartbeat', routers: [{ name: 'depot', reachable: false, uptime_seconds: null, reason: 'timed out' }] },
  {
    type: 'inventory',
    router: 'depot',
    facts: {
      hardware_id: 'HB1',
      serial_number: 'HB1',
      software_id: null,
      identity: 'Depot ✓',
      software_version: '7.18.2',
      model: null,
      board_name: 'CHR',
      hardware_board: false,
      architecture: null,
      time_zone: 'Europe/Riga',
      uptime: '1w3d',
      uptime_seconds: 864_000,
    },
  },
  {
    type: 'health',
    router: 'depot',
    readings: {
      cpu_load: 7,
      temperatures: [{ name: 'cpu-temperature', celsius: 41.5 }],
      voltage: null,
      free_memory: 1,
      total_memory: 2,
      free_hdd: null,
      total_hdd: null,
      clock_offset_seconds: -3,
      wan: [{ interface: 'ether1', running: true }],
      position: null,
    },
  },
  {
    type: 'devices',
    router: 'depot',
    kind: 'full',
    first: true,
    last: true,
    devices: [{ mac: '48:8F:5A:00:00:01', ip: '10.0.0.2' }],
    gone: [],
  },
  { type: 'goaway', reason: 'restart', reconnect_after_ms: 0 },
  { type: 'rows', id: 7, rows: [{ '.id': '*1', 'mac-address': 'AA' }, {}] },
  { type: 'reply', id: 7, outcome: { ok: true, result: { method: 'command', ret: '*1' } } },
  {
    type: 'reply',
    id: 8,
    outcome: { ok: true, result: { method: 'forward.open', way: 'ssh', way_reason: 'has SSH', target_reachable: null } },
  },
  { type: 'reply', id: 9, outcome: { ok: true, result: { method: 'forward.close' } } },
  { type: 'reply', id: 10, outcome: { ok: false, error: { code: 'rejected', message: 'no such item', category: 0 } } },
  { type: 'job.accepted', job_id: JOB },
  { type: 'job.declined', job_id: JOB, reason: 'busy' },
  { type: 'job.began', job_id: JOB },
  { type: 'job.ended', job_id: JOB, result: RESULT },
  { type: 'job.refused', job_id: JOB },
  { type: 'job.guard', job_id: JOB, state: 'armed', fires_in_ms: 60_000 },
  { type: 'job.guard', job_id: JOB, state: 'disarmed', fires_in_ms: null },
  { type: 'terminal.ended', terminal_id: FORWARD, reason: 'idle', message: 'there was no input for too long' },
  { type: 'forward.lost', forward_id: FORWARD, reason: 'SSH session ended' },
];

const serverExamples: ServerMessage[] = [
  { type: 'welcome', version: 1, agent_id: AGENT, epoch: 1, reset: false, settings: { heartbeat_ms: 30_000, silence_ms: 55_000 } },
  { type: 'goaway', reason: 'replaced', reconnect_after_ms: 30_000 },
  {
    type: 'request',
    id: 1,
    remaining_ms: 5000,
    method: 'command',
    params: { router: 'depot', hardware_id: 'HB1', path: '/ip/address/print', words: ['?type=ether'] },
  },
  {
    type: 'request',
    id: 2,
    remaining_ms: 0,
    method: 'forward.open',
    params: {
      router: 'depot',
      hardware_id: 'HB1',
      forward_id: FORWARD,
      dst_address: '10.0.0.9',
      dst_port: 22,
      expires_in_ms: 60_000,
      channel_token: 'token',
      warm_channels: 2,
      max_channels: 64,
    },
  },
  { type: 'request', id: 3, remaining_ms: 1000, method: 'forward.close', params: { forward_id: FORWARD } },
  { type: 'cancel', id: 1 },
  {
    type: 'job.offer',
    job_id: JOB,
    router: 'depot',
    hardware_id: 'HB1',
    script: ':put 1',
    make_backup: true,
    needs_acknowledgement: true,
    timeout_ms: 300_000,
  },
  { type: 'job.go', job_id: JOB },
  { type: 'job.ack', job_id: JOB },
  { type: 'job.revoke', job_id: JOB },
  { type: 'channel.dial', forward_id: FORWARD, count: 4 },
  { type: 'router.waiting', router: 'depot', hardware_id: 'HB1', reason: 'another agent has it' },
  {
    type: 'request',
    id: 4,
    remaining_ms: 1000,
    method: 'terminal.open',
    params: {
      router: 'depot',
      hardware_id: 'HB1',
      terminal_id: FORWARD,
      level: 'read',
      channel_token: 'token',
      cols: 80,
      rows: 24,
      resume: false,
      from: 0,
      expires_in_ms: 7_200_000,
      idle_ms: 600_000,
      keep_ms: 300_000,
    },
  },
  { type: 'request', id: 5, remaining_ms: 1000, method: 'terminal.close', params: { terminal_id: FORWARD } },
  { type: 'terminal.resize', terminal_id: FORWARD, cols: 132, rows: 43 },
];

describe('every message is unchanged after encoding and decoding', () => {
  test.each(agentExamples)('agent: $type', (message) => {
    expect(decodeAgentMessage(encodeMessage(message))).toEqual({ kind: 'message', message });
  });

  test.each(serverExamples)('server: $type', (message) => {
    expect(decodeServerMessage(encodeMessage(message))).toEqual({ kind: 'message', message });
  });
});

test('every type is among the examples above', () => {
  expect(new Set(agentExamples.map(({ type }) => type))).toEqual(new Set(Object.keys(agentMessages)));
  expect(new Set(serverExamples.map(({ type }) => type))).toEqual(new Set(Object.keys(serverMessages)));
});

describe('a peer may send more than this version knows', () => {
  test('an unknown type is named, so that it can be counted', () => {
    expect(decodeAgentMessage('{"type":"telemetry","id":3}')).toEqual({ kind: 'unknown', type: 'telemetry' });
  });

  test('a message of the other direction is unknown', () => {
    expect(decodeAgentMessage(encodeMessage({ type: 'job.go', job_id: JOB }))).toEqual({ kind: 'unknown', type: 'job.go' });
    expect(decodeServerMessage(encodeMessage({ type: 'job.began', job_id: JOB }))).toEqual({ kind: 'unknown', type: 'job.began' });
  });

  test('names of Object.prototype are not types', () => {
    expect(decodeAgentMessage('{"type":"constructor"}')).toEqual({ kind: 'unknown', type: 'constructor' });
  });

  test('an unknown member is dropped', () => {
    expect(decodeServerMessage('{"type":"cancel","id":1,"why":"impatience"}')).toEqual({
      kind: 'message',
      message: { type: 'cancel', id: 1 },
    });
  });
});

describe('an invalid message of a known type names the request it belongs to', () => {
  test.each([
    { text: '{"type":"reply","id":7,"outcome":{"ok":true}}', id: 7 },
    { text: '{"type":"rows","id":8,"rows":[{"a":1}]}', id: 8 },
    { text: '{"type":"reply","id":"7","outcome":{"ok":false}}', id: undefined },
    { text: '{"type":"job.accepted","job_id":"nonsense"}', id: undefined },
    { text: '{"type":"heartbeat"}', id: undefined },
  ])('$text', ({ text, id }) => {
    expect(decodeAgentMessage(text)).toMatchObject({ kind: 'invalid', id });
  });

  test('a request of an unknown method belongs to its id', () => {
    expect(decodeServerMessage('{"type":"request","id":5,"remaining_ms":1,"method":"dance","params":{}}')).toMatchObject({
      kind: 'invalid',
      type: 'request',
      id: 5,
    });
  });

  test('the reason is short for any number of errors', () => {
    const rows = Array.from({ length: 1000 }, () => ({ a: 1 }));
    const decoded = decodeAgentMessage(JSON.stringify({ type: 'rows', id: 1, rows }));
    expect(decoded.kind === 'invalid' && decoded.reason.length).toBeLessThanOrEqual(1000);
  });
});

describe('a message with many names', () => {
  const rowsOf = (names: number, rows: number, space = ''): string => {
    const row = Array.from({ length: names }, (_, index) => `"a long name ${index}\\""${space}:"x"`).join(',');
    return `{"type":"rows","id":1,"rows":[${Array(rows).fill(`{${row}}`).join(',')}]}`;
  };

  test.each([
    ['is read when it has some hundred, however often', rowsOf(300, 60), 'message'],
    ['is not read when it has thousands of different ones', rowsOf(2000, 1), 'garbage'],
    ['is not read either when there is room before the colons', rowsOf(2000, 1, ' \r\n\t'), 'garbage'],
    ['is not read when it has more strings than any message', rowsOf(300, 70), 'garbage'],
    [
      'is read when what looks like names is in a value',
      JSON.stringify({ type: 'rows', id: 1, rows: [{ a: rowsOf(2500, 1) }] }),
      'message',
    ],
  ])('%s', (_, text, kind) => {
    expect(decodeAgentMessage(text).kind).toBe(kind);
  });
});

describe('what is not a message is garbage', () => {
  test.each([
    '',
    'GET / HTTP/1.1',
    '{"type":"hello"',
    'null',
    '42',
    '"hello"',
    '[]',
    '{}',
    '{"type":7}',
    '{"type":""}',
    `{"type":"${'x'.repeat(65)}"}`,
  ])('%s', (text) => {
    expect(decodeAgentMessage(text).kind).toBe('garbage');
    expect(decodeServerMessage(text).kind).toBe('garbage');
  });
});

describe('limits hold at the edge', () => {
  const offer = (script: string) => ({ ...serverExamples.find((message) => message.type === 'job.offer'), script }) as ServerMessage;
  const ended = (output: string): AgentMessage => ({ type: 'job.ended', job_id: JOB, result: { ...RESULT, output } });
  const ready = (count: number): AgentMessage => ({
    type: 'ready',
    epoch: 1,
    journal_id: JOURNAL,
    jobs: Array.from({ length: count }, () => ({ job_id: JOB, state: 'begun' as const })),
  });

  test.each([
    {
      what: 'script',
      longest: decodeServerMessage(encodeMessage(offer('x'.repeat(MAX_SCRIPT_CHARS)))),
      longer: decodeServerMessage(encodeMessage(offer('x'.repeat(MAX_SCRIPT_CHARS + 1)))),
    },
    {
      what: 'output',
      longest: decodeAgentMessage(encodeMessage(ended('x'.repeat(MAX_OUTPUT_BYTES)))),
      longer: decodeAgentMessage(encodeMessage(ended('x'.repeat(MAX_OUTPUT_BYTES + 1)))),
    },
    {
      what: 'output beyond ASCII',
      longest: decodeAgentMessage(encodeMessage(ended('é'.repeat(MAX_OUTPUT_BYTES / 2)))),
      longer: decodeAgentMessage(encodeMessage(ended('é'.repeat(MAX_OUTPUT_BYTES / 2 + 1)))),
    },
    {
      what: 'list of open jobs',
      longest: decodeAgentMessage(encodeMessage(ready(MAX_OPEN_JOBS_PER_AGENT))),
      longer: decodeAgentMessage(encodeMessage(ready(MAX_OPEN_JOBS_PER_AGENT + 1))),
    },
  ])('$what', ({ longest, longer }) => {
    expect(longest.kind).toBe('message');
    expect(longer.kind).toBe('invalid');
  });
});
