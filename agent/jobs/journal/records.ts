import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { MAX_SCRIPT_CHARS, jobResult } from '../../../protocol/index.ts';
import { AgentError } from '../../core/errors.ts';

/**
 * The journal on disk: one line per record, `<CRC-32 in 8 hex digits> <JSON>\n`, only ever appended to. Pure.
 */

const jobId = z.uuid();

/** The offered job, stored completely because `go` names only its id. */
export const storedOffer = z.object({
  job_id: jobId,
  router: z.string(),
  hardware_id: z.string(),
  script: z.string().max(MAX_SCRIPT_CHARS),
  make_backup: z.boolean(),
  needs_acknowledgement: z.boolean(),
  timeout_ms: z.number(),
  undo_unless_reachable_seconds: z.int().optional(),
});
export type StoredOffer = z.infer<typeof storedOffer>;

/** The router's uptime at a point in time (begin of the script or the guard), to detect a later reboot. */
export const bootMark = z.object({
  /** Wall clock of the agent, milliseconds since 1970. */
  at: z.number(),
  /** Seconds since the router's boot; null where it could not be read. */
  uptime_seconds: z.number().nullable(),
});
export type BootMark = z.infer<typeof bootMark>;

const record = z.discriminatedUnion('t', [
  /** First line of every journal. `v` changes when an older agent could misread it. */
  z.object({ t: z.literal('journal'), v: z.literal(1), id: z.uuid() }),
  z.object({ t: z.literal('epoch'), epoch: z.int().min(1) }),
  z.object({ t: z.literal('accept'), offer: storedOffer }),
  /** The undo guard is about to be armed, or counts from this time; the last record is valid. */
  z.object({ t: z.literal('guard'), id: jobId, boot: bootMark }),
  /** The guard can no longer fire: it was removed, or it has fired. */
  z.object({ t: z.literal('disarmed'), id: jobId }),
  /** From now on the script may have run. */
  z.object({ t: z.literal('begin'), id: jobId, boot: bootMark }),
  z.object({ t: z.literal('refused'), id: jobId }),
  z.object({ t: z.literal('end'), id: jobId, result: jobResult }),
  z.object({ t: z.literal('acked'), id: jobId }),
  /** Nothing of the job is left on the router. */
  z.object({ t: z.literal('cleaned'), id: jobId }),
  /** Compacted record of a finished job: enough to answer a repeated offer. */
  z.object({ t: z.literal('over'), id: jobId, result: jobResult }),
]);
export type JournalRecord = z.infer<typeof record>;

export function encodeRecord(value: JournalRecord): Buffer {
  const json = Buffer.from(JSON.stringify(value), 'utf8');
  return Buffer.concat([Buffer.from(`${checksum(json)} `, 'latin1'), json, Buffer.from('\n', 'latin1')]);
}

function checksum(json: Buffer): string {
  return crc32(json).toString(16).padStart(8, '0');
}

/** Content of a journal file, and how many of its bytes are valid: the rest is an incomplete line. */
export interface Decoded {
  records: JournalRecord[];
  goodBytes: number;
}

/**
 * Ignores a last line without line end, or with unwritten blocks (NUL bytes), because it was never confirmed. Any other damage means
 * that confirmed lines may be lost.
 * @throws AgentError `internal` naming the line
 */
export function decodeJournal(content: Buffer): Decoded {
  const records: JournalRecord[] = [];
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf(0x0a, start);
    if (end === -1) break;
    const line = content.subarray(start, end);
    if (end + 1 === content.length && line.includes(0)) break;
    records.push(decodeLine(line, records.length + 1));
    start = end + 1;
  }
  return { records, goodBytes: start };
}

function decodeLine(line: Buffer, number: number): JournalRecord {
  const json = line.subarray(9);
  const isWhole = line.length > 9 && line[8] === 0x20 && line.toString('latin1', 0, 8) === checksum(json);
  if (!isWhole) throw damaged(number, 'its checksum does not match');
  const parsed = record.safeParse(JSON.parse(json.toString('utf8')));
  if (!parsed.success) throw damaged(number, 'it was written by another version of the agent');
  return parsed.data;
}

export function damaged(line: number, why: string): AgentError {
  return new AgentError(
    'internal',
    `the job journal is damaged in line ${line}: ${why}. ` +
      'Jobs that it no longer contains may have run. To continue, move the journal file away: the control plane will then ' +
      'set the open jobs of this agent to unknown, and run none of them again.',
  );
}
