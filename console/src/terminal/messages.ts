/** What the page and the terminal's own document say to each other. Both are of this origin. */

export type ToTerminal =
  /** Attach with this one-use ticket. */
  | { kind: 'attach'; path: string; ticket: string }
  /** Lines that the person has seen and wants to paste. */
  | { kind: 'paste'; text: string }
  /** Keys that the keyboard of a phone does not have. */
  | { kind: 'keys'; text: string }
  | { kind: 'focus' }
  /** Show a part of a recording. */
  | { kind: 'show'; text: string }
  | { kind: 'size'; cols: number; rows: number }
  /** Empty the screen, for a recording. */
  | { kind: 'clear'; cols: number; rows: number };

export type FromTerminal =
  | { kind: 'ready' }
  | { kind: 'attached' }
  | { kind: 'away'; away: boolean }
  | { kind: 'ended'; reason: string; message: string }
  | { kind: 'elsewhere' }
  | { kind: 'lost' }
  /** The person pasted several lines. */
  | { kind: 'lines'; text: string }
  /** The person wants the keyboard back for the page. */
  | { kind: 'leave' };
