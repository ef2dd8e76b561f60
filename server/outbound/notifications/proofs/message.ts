import { writeText } from '../texts/write.ts';
import type { Reader, ThreadView } from '../texts/types.ts';
import type { OutgoingMessage } from '../channels/types.ts';

/** What the message with a code says. */
export interface ProofWords {
  /** Id of the message. */
  id: string;
  /** Null when the link in the message proves the address. */
  code: string | null;
  /** Who asks. */
  by: string;
  team: string;
  /** Where the code is typed in, or the link that proves. */
  url: string;
  /** Milliseconds since 1970. */
  at: number;
  /** How long the code can be used, milliseconds. */
  validMs: number;
  reader: Reader;
}

/** The message by which an address is proved. It is about no thread, so it has an id of its own. */
export function proofMessage({ id, code, by, team, url, at, validMs, reader }: ProofWords): OutgoingMessage {
  const thread: ThreadView = {
    id,
    revision: 1,
    kind: 'test',
    severity: 'info',
    subject: { type: 'proof', code, by, validMs },
    items: [],
    itemCount: 0,
    openCount: 0,
    firstAt: at,
    lastAt: at,
    endedAt: null,
    flapping: null,
    stillOpen: 0,
    acknowledgedBy: null,
    siteTimeZone: null,
    team,
    group: null,
    url,
    at,
  };
  return { id, thread, text: writeText(thread, reader), previousIds: [], isTest: true };
}
