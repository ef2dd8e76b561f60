import type { Log } from '../../agent/core/log.ts';

interface Line {
  level: keyof Log;
  message: string;
  [field: string]: unknown;
}

/** A log of the agent that keeps its lines for the test. */
export class RecordedLog implements Log {
  readonly lines: Line[] = [];

  debug(fields: object, message: string): void {
    this.lines.push({ level: 'debug', message, ...fields });
  }

  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', message, ...fields });
  }

  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', message, ...fields });
  }

  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', message, ...fields });
  }

  /** For the server, whose log has parts. */
  child(): this {
    return this;
  }

  /** What people see who have not asked for more. */
  get shown(): Line[] {
    return this.lines.filter((line) => line.level !== 'debug');
  }

  /** Takes what has been shown so far. */
  take(): Line[] {
    const { shown } = this;
    this.lines.length = 0;
    return shown;
  }
}
