/**
 * What a peer may grow, in one place. Both ends check; a peer that exceeds a limit loses the request or the
 * connection, never the process. A limit in `BYTES` counts UTF-8 as it is on the wire (`Buffer.byteLength`), one in `CHARS` counts
 * UTF-16 units (`length`).
 */

/** One control message. The largest is a job's end: 64 kB of output may become six times as long in JSON escapes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Rows of a long reply travel in batches of about this size, so that no message delays the next one for long. */
export const ROW_BATCH_BYTES = 64 * 1024;

/** All rows of one command together: about 50,000 routes. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** One name in a row: the longest of RouterOS has some 40 letters. */
export const MAX_NAME_CHARS = 1024;

/** What a command returns beside its rows: an id over the API, what was printed over a console. */
export const MAX_RETURN_CHARS = 64 * 1024;

/** Characters of a job's script (docs/interface.md, new job). */
export const MAX_SCRIPT_CHARS = 2000;

/** A job's output is kept whole up to this many bytes; the rest is dropped and marked. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** One file of a backup: routers with long certificate stores have some 2 MB. In base64 it fits {@link MAX_REPLY_BYTES}. */
export const MAX_BACKUP_BYTES = 8 * 1024 * 1024;

/** Routers behind one agent. */
export const MAX_ROUTERS_PER_AGENT = 500;

/** Jobs an agent may hold unfinished: one running and one waiting per router, with room for cancelled ones. */
export const MAX_OPEN_JOBS_PER_AGENT = 2000;

/** Requests under way on one tunnel. */
export const MAX_OPEN_REQUESTS = 1000;

/** Control messages waiting for a peer that does not read: four of the largest. Beyond it nothing more is sent. */
export const MAX_UNSENT_BYTES = 4 * MAX_MESSAGE_BYTES;

/**
 * Messages waiting for the database or the disk: the inventory of 500 routers, or one of the largest. A peer that
 * sends faster is not read until they are done.
 */
export const MAX_WAITING_BYTES = MAX_MESSAGE_BYTES;

/** What keeping a short message costs beyond its text: the parsed object and its place in the queue. */
export const WAITING_MESSAGE_OVERHEAD = 512;

/** From the upgrade to hello. A peer that opens connections and says nothing must not keep them. */
export const HELLO_TIMEOUT_MS = 10_000;

/** From welcome to ready: the agent writes the epoch to a disk that may be slow and busy. */
export const READY_TIMEOUT_MS = 30_000;

/** Sensors of one router: the largest chassis print some twenty. */
export const MAX_SENSORS = 64;

/** Ports of one router that power others: the largest switch has 48. */
export const MAX_POE_PORTS = 64;

/** Provider lines of one router that are watched. */
export const MAX_WAN_INTERFACES = 32;

/** Devices in one message, so that a site with thousands delays nothing else: about 60 kB, 1 ms of the database. */
export const MAX_DEVICES_PER_MESSAGE = 500;
