import * as z from 'zod';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import { cleanLines, cleanText, isOneLine, ONE_LINE } from '../../routeros-text/router-text.ts';

/** Name of a router in its agent's configuration. It addresses the router inside one tunnel, so it is never cleaned. */
export const routerName = z.string().min(1).max(64).refine(isOneLine, ONE_LINE);

/** Serial number or software id. The agent refuses an operation that is meant for another device. */
export const hardwareId = z.string().min(1).max(128);

/**
 * Text of a router or of a device behind it. Cleaned, not refused: one bad host name must not invalidate the whole message.
 * The message size limits its length; the result is cut to `max`.
 */
export const routerText = (max: number) => z.string().transform((value) => cleanText(value, max));

/** An error message, which may be the router's own text. Longer ones are refused: agents cut them. */
export const errorText = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => cleanLines(value, max));

/** A list that drops invalid items. */
export const routerList = <T>(item: z.ZodType<T>, max: number) =>
  z
    .array(item.nullable().catch(null))
    .max(max)
    .transform((items) => items.filter((each) => each !== null));

export const jobId = z.uuid();
export const forwardId = z.uuid();

/** Chosen by the asking side; unique among its open requests. */
export const requestId = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Remaining time in milliseconds, not a point in time, because router, agent and server clocks differ. A week at most. */
export const remainingMs = z
  .int()
  .min(0)
  .max(7 * 24 * 3600 * 1000);

export const text = (max: number) => z.string().max(max);

/** Bearer token for dialling channels. */
export const channelToken = text(512);
/** Base address of the control plane to which channels are dialled, of several. Absent: the agent's own server. */
export const channelUrl = text(2048);
/** Limited in bytes: 64 Ki characters may be three times as many bytes. */
export const outputText = z
  .string()
  .refine((output) => Buffer.byteLength(output) <= MAX_OUTPUT_BYTES, { error: `must have at most ${MAX_OUTPUT_BYTES} bytes of UTF-8` });
