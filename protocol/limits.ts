/**
 * What a peer may grow, in one place. Both ends check; a peer that exceeds a limit loses the request or the
 * connection, never the process.
 */

/** One control message. The largest is a job's end: 64 kB of output may become six times as long in JSON escapes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Rows of a long reply travel in batches of about this size, so that no message delays the next one for long. */
export const ROW_BATCH_BYTES = 64 * 1024;

/** All rows of one command together: about 50,000 routes. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** A job's script: INTERFACE.md 4.8. */
export const MAX_SCRIPT_CHARS = 2000;

/** A job's output is kept whole up to this many bytes; the rest is dropped and marked. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** Routers behind one agent. */
export const MAX_ROUTERS_PER_AGENT = 500;

/** Jobs an agent may hold unfinished: one running and one waiting per router, with room for cancelled ones. */
export const MAX_OPEN_JOBS_PER_AGENT = 2000;

/** Requests under way on one tunnel. */
export const MAX_OPEN_REQUESTS = 1000;
