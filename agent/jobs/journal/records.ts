import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { MAX_SCRIPT_CHARS, jobResult } from '../../../protocol/index.ts';
import { AgentError } from '../../core/errors.ts';

/**
 * The journal on disk: one line per record, `<CRC-32 in 8 hex digits> <JSON>\n`, only ever appended to. Pure.
 */

const jobId = z.uuid();

/** What the control plane asked for; kept whole, because permission to run (`go`) names only the id. */
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

/** The router as it was at a moment (the script's begin, the guard's): tells later whether it has rebooted since. */
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
  /** The router's undo guard is about to be armed, or counts from this moment; the last one holds. */
  z.object({ t: z.literal('guard'), id: jobId, boot: bootMark }),
  /** The guard can do nothing any more: it is off the router, or it has done its work. */
  z.object({ t: z.literal('disarmed'), id: jobId }),
  /** From here on the script may have run. */
  z.object({ t: z.literal('begin'), id: jobId, boot: bootMark }),
  z.object({ t: z.literal('refused'), id: jobId }),
  z.object({ t: z.literal('end'), id: jobId, result: jobResult }),
  z.object({ t: z.literal('acked'), id: jobId }),
  /** Nothing of the job is left on the router. */
  z.object({ t: z.literal('cleaned'), id: jobId }),
  /** Compacted from a finished job: enough to answer an offer that comes a second time. */
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

/** What a journal file holds, and how many of its bytes are good: the rest is a line that was being written. */
export interface Decoded {
  records: JournalRecord[];
  goodBytes: number;
}

/**
 * A last line without its line end, or with blocks the disk never wrote (NUL bytes), was not confirmed to anyone: it is
 * left out. Any other damage means that confirmed lines may be gone.
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
      'Jobs may have run that it no longer knows. To go on, move the journal file away: the control plane will then ' +
      'call the jobs it had given to this agent unknown, and run none of them again.',
  );
}
