/** The source does not parse. Nothing of it has run. */
export class SyntaxFailure extends Error {
  /** What `:parse` returns for it; differs from the message for unknown commands and parameters. */
  readonly parsed: string;

  constructor(what: string, position: { line: number; column: number }, wrap: (text: string) => string = (text) => text) {
    const text = `${what} (line ${position.line} column ${position.column})`;
    super(text);
    this.name = 'SyntaxFailure';
    this.parsed = wrap(text);
  }
}

/** A run-time error: an `:error`, a refused menu command, a wrong operand. `on-error` catches it. */
export class ScriptFailure extends Error {
  /** `:error`, `/ip/address/add`: the command that failed, for the place RouterOS prints after the message. */
  readonly origin: string;
  readonly line: number;

  constructor(message: string, origin: string, line: number) {
    super(message);
    this.name = 'ScriptFailure';
    this.origin = origin;
    this.line = line;
  }
}

/** An operand of the wrong kind; the statement around it adds the place. */
export class ValueFailure extends Error {
  override readonly name = 'ValueFailure';
}

/** The session went away, the router rebooted or the command was cancelled: `on-error` does not catch this. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('interrupted');
  }
}
