import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeAgentMessage, decodeServerMessage, encodeMessage, MAX_MESSAGE_BYTES } from '../../../protocol/index.ts';
import type { AgentMessage } from '../../../protocol/index.ts';

const text = (max: number) => fc.string({ maxLength: max, unit: 'grapheme' }).filter((value) => value.length <= max);
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

const row = fc.dictionary(
  text(40).filter((key) => key !== '__proto__'),
  text(200),
);
const rows = fc.record({ type: fc.constant('rows' as const), id, rows: fc.array(row, { maxLength: 50 }) });
const error = fc.record({
  code: fc.constantFrom('rejected' as const, 'internal' as const),
  message: text(500),
  category: fc.integer({ min: 0, max: 7 }),
});
const reply = fc.record({ type: fc.constant('reply' as const), id, outcome: fc.record({ ok: fc.constant(false as const), error }) });
const ended = fc.record({
  type: fc.constant('job.ended' as const),
  job_id: fc.uuid({ version: 7 }),
  result: fc.record({
    outcome: fc.constantFrom('completed' as const, 'failed' as const, 'unknown' as const),
    reason: fc.constantFrom('script_error' as const, null),
    error: fc.option(text(400)),
    output: fc.option(text(1000)),
    output_truncated: fc.boolean(),
  }),
});

test('a message with any text of a router is unchanged after encoding and decoding', () => {
  fc.assert(
    fc.property(fc.oneof(rows, reply, ended), (message) => {
      expect(decodeAgentMessage(encodeMessage(message))).toEqual({ kind: 'message', message });
    }),
    { numRuns: 300 },
  );
});

test('no text makes a decoder throw', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc
      .record({ type: fc.constantFrom('hello', 'reply', 'request', 'rows', 'welcome', 'toString'), id: fc.anything() })
      .map((value) => JSON.stringify(value) ?? ''),
  );
  fc.assert(
    fc.property(anything, (data) => {
      for (const decoded of [decodeAgentMessage(data), decodeServerMessage(data)]) {
        expect(['message', 'unknown', 'invalid', 'garbage']).toContain(decoded.kind);
      }
    }),
    { numRuns: 500 },
  );
});

test('the longest job result fits into one message with any characters', () => {
  const worst = String.fromCharCode(1);
  const message: AgentMessage = {
    type: 'job.ended',
    job_id: '0198c0de-0000-7000-8000-00000000000a',
    result: {
      outcome: 'failed',
      reason: 'script_error',
      error: worst.repeat(4096),
      output: worst.repeat(64 * 1024),
      output_truncated: true,
    },
  };
  expect(Buffer.byteLength(encodeMessage(message))).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
});
