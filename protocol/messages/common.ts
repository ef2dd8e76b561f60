import * as z from 'zod';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import { cleanLines, cleanText, isOneLine, ONE_LINE } from '../../routeros-text/router-text.ts';

/** Name of a router in its agent's configuration: the address of a router inside one tunnel, so it is never cleaned. */
export const routerName = z.string().min(1).max(64).refine(isOneLine, ONE_LINE);

/** Serial number or software id: the agent refuses an errand meant for another device than the one it finds. */
export const hardwareId = z.string().min(1).max(128);

/**
 * What a router or a stranger behind it has written. Cleaned, not refused: one host name must not cost its neighbours their
 * message. How long it may be, the message's own limit says.
 */
export const routerText = (max: number) => z.string().transform((value) => cleanText(value, max));

/** A message of an error, which may be a router's own words. Longer ones are refused: agents cut them. */
export const errorText = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => cleanLines(value, max));

/** A list of such things: one that is no such thing is left out. */
export const routerList = <T>(item: z.ZodType<T>, max: number) =>
  z
    .array(item.nullable().catch(null))
    .max(max)
    .transform((items) => items.filter((each) => each !== null));

export const jobId = z.uuid();
export const forwardId = z.uuid();

/** Chosen by the asking side; unique among its open requests. */
export const requestId = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Remaining time in milliseconds, not a moment: router, agent and server clocks disagree. A week at most. */
export const remainingMs = z
  .int()
  .min(0)
  .max(7 * 24 * 3600 * 1000);

export const text = (max: number) => z.string().max(max);
/** The limit is one of bytes: 64 k characters may be three times as many. */
export const outputText = z
  .string()
  .refine((output) => Buffer.byteLength(output) <= MAX_OUTPUT_BYTES, { error: `must have at most ${MAX_OUTPUT_BYTES} bytes of UTF-8` });
