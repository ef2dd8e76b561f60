/**
 * Limits on everything that a peer can grow. Both sides check them. A peer that exceeds a limit loses the request or the
 * connection, never the process. A limit in `BYTES` counts UTF-8 as it is on the wire (`Buffer.byteLength`), one in `CHARS` counts
 * UTF-16 units (`length`).
 */

/** One control message. The largest is the end of a job: JSON escapes can make 64 KiB of output six times as long. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Size of one batch of rows in a long reply, so that no message delays the next one for long. */
export const ROW_BATCH_BYTES = 64 * 1024;

/** All rows of one command together: about 50,000 routes. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** One name in a row: the longest in RouterOS has about 40 letters. */
export const MAX_NAME_CHARS = 1024;

/** The return value of a command beside its rows: an id over the API, the printed text over a console. */
export const MAX_RETURN_CHARS = 64 * 1024;

/** Characters of a job's script (docs/interface.md, new job). */
export const MAX_SCRIPT_CHARS = 2000;

/** A job's output is kept whole up to this many bytes; the rest is dropped and marked. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/** One file of a backup: routers with large certificate stores have about 2 MB. In base64 it fits {@link MAX_REPLY_BYTES}. */
export const MAX_BACKUP_BYTES = 8 * 1024 * 1024;

/** Routers behind one agent. */
export const MAX_ROUTERS_PER_AGENT = 500;

/** Jobs an agent may hold unfinished: one running and one waiting per router, with room for cancelled ones. */
export const MAX_OPEN_JOBS_PER_AGENT = 2000;

/** Open requests on one tunnel. */
export const MAX_OPEN_REQUESTS = 1000;

/** Unsent bytes for a peer that does not read: four of the largest messages. Beyond it nothing more is sent. */
export const MAX_UNSENT_BYTES = 4 * MAX_MESSAGE_BYTES;

/**
 * Messages waiting for the database or the disk: the inventory of 500 routers, or one of the largest messages. A faster peer is
 * not read until they are handled.
 */
export const MAX_WAITING_BYTES = MAX_MESSAGE_BYTES;

/** Bytes that a waiting message costs beyond its text: the parsed object and its queue entry. */
export const WAITING_MESSAGE_OVERHEAD = 512;

/** From the upgrade to hello. A peer must not hold connections without sending anything. */
export const HELLO_TIMEOUT_MS = 10_000;

/** From welcome to ready: the agent writes the epoch to a disk that may be slow and busy. */
export const READY_TIMEOUT_MS = 30_000;

/** Sensors of one router: the largest chassis prints about twenty. */
export const MAX_SENSORS = 64;

/** PoE output ports of one router: the largest switch has 48. */
export const MAX_POE_PORTS = 64;

/** Monitored WAN interfaces of one router. Sites have one to three. */
export const MAX_WAN_INTERFACES = 32;

/** Devices in one message: about 60 kB and 1 ms of database time, so that a site with thousands delays nothing else. */
export const MAX_DEVICES_PER_MESSAGE = 500;
