import type { ShareLimits } from '../../../runtime/fair-shares.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** All limits of terminals. Tests use smaller ones. */
export interface TerminalLimits {
  /** Longest life of a terminal. */
  longestMs: number;
  /** It ends after this time without a keystroke. */
  idleMs: number;
  /** It ends after this time without an attached person, and after this time without its agent. */
  keepMs: number;
  /** How long a ticket is valid. */
  ticketMs: number;
  /** A person must have signed in this recently to open one. */
  freshSignInMs: number;
  /** Longest time for the agent to log in to the router. */
  openTimeoutMs: number;
  /** Longest wait for the channel of a shell that is open. */
  channelWaitMs: number;
  /** Pause before the agent is asked for another channel. */
  retryMs: number;
  /** How often rights are checked. */
  recheckMs: number;
  /** How often times are checked; a terminal ends this late at most. */
  tickMs: number;
  /** Waits for the last output of a shell that has ended. */
  drainMs: number;
  /** Output is stored this often while there is some. */
  flushMs: number;
  /** Length of one recording, in characters of its file. The terminal ends there: it is never open without being recorded. */
  recordingChars: number;
}

export const TERMINAL_LIMITS: TerminalLimits = {
  longestMs: 120 * MINUTE_MS,
  idleMs: 10 * MINUTE_MS,
  keepMs: 5 * MINUTE_MS,
  ticketMs: 30 * SECOND_MS,
  freshSignInMs: 15 * MINUTE_MS,
  openTimeoutMs: 20 * SECOND_MS,
  channelWaitMs: 10 * SECOND_MS,
  retryMs: 2 * SECOND_MS,
  recheckMs: 25 * SECOND_MS,
  tickMs: SECOND_MS,
  drainMs: 2 * SECOND_MS,
  flushMs: SECOND_MS,
  // Two hours of a log that scrolls without pause: 2 kB a second.
  recordingChars: 16 * 1024 * 1024,
};

/**
 * Recordings of one team, characters of their files: 1,280 of the longest, or 400,000 of a short visit. No recording makes room for another:
 * whoever wants to hide what was done could otherwise push it out. A team has at most 3.2 GB more, in the terminals that are open then.
 */
export const MOST_RECORDED_CHARS = 20 * 1024 ** 3;

/**
 * Open terminals. Each holds 64 KiB of output, at most as much input and {@link UNSTORED_BYTES} of recording: 1.2 MB. A router's limit is
 * that of its agent.
 */
export const OPEN_TERMINALS: ShareLimits = { total: 500, perParty: 200, perMember: 5 };

/**
 * Longest wait of what is typed for the size of the window that was sent before it, milliseconds. The control plane that has the agent
 * passes it on in a few, so one that needs longer is in trouble, and a wrong size harms less than keys without an echo.
 */
export const SIZE_WAIT_MS = 1000;

/** Output that is kept for a page that comes back: several screens. */
export const REPLAY_BYTES = 64 * 1024;

/** Keystrokes that wait for the router. More are not read from their sender. */
export const WAITING_INPUT_BYTES = 64 * 1024;

/** Output that waits for an attached client, or for the database; the router is held back until half of it is gone. */
export const UNSENT_BYTES = 256 * 1024;
export const UNSTORED_BYTES = 1024 * 1024;

/** Output that is read while nobody is attached; then the router is held back. */
export const UNSEEN_BYTES = 1024 * 1024;
