import type { Endless } from './api/endless.ts';
import type { SessionRegistry } from './sessions.ts';

/** One value on its way to a client: the API command's path (`console` for SSH), the property or `message` of a trap, and what it is. */
export type Spoil = (path: string, name: string, value: string) => string;

/** Failures to switch on and off while the router runs. */
export class Faults {
  /** Each byte of an API reply in a segment of its own. */
  splitReplies = false;
  /** Wait before every API reply. */
  delayMs = 0;
  /** Commands are accepted and run, but nothing is answered. */
  silent = false;
  /** Commands are taken in, but neither run nor answered. */
  deaf = false;
  /** After the login every command is answered without end, in one of these ways. */
  endless: Endless | undefined = undefined;
  /** What the router says in place of each value, and of each trap's text. Bytes that are no text: `textOfBytes` (api/words.ts). */
  spoil: Spoil | undefined = undefined;
  /** New connections are reset at once. */
  refuseConnections = false;
  /** Every file write fails. */
  diskFull = false;
  /** Policies taken from every user. */
  readonly missingPolicies = new Set<string>();
  readonly #sessions: SessionRegistry;

  constructor(sessions: SessionRegistry) {
    this.#sessions = sessions;
  }

  /** RST on every open connection. */
  resetConnections(): void {
    this.#sessions.closeAll(true);
  }

  /** Sends bytes that cannot be part of the protocol (a reserved control byte first) on every API connection. */
  garbage(bytes: Buffer = Buffer.from([0xff, 0x00, 0xfe, 0x80, 0x13])): void {
    for (const { session } of this.#sessions.list()) session.garble?.(bytes);
  }

  /** Back to a healthy router. */
  clear(): void {
    Object.assign(this, {
      splitReplies: false,
      delayMs: 0,
      silent: false,
      deaf: false,
      refuseConnections: false,
      diskFull: false,
      endless: undefined,
      spoil: undefined,
    });
    this.missingPolicies.clear();
  }
}
