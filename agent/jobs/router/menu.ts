import type { Deadline } from '../../routers/adapter.ts';

export interface NewEntry {
  name: string;
  everySeconds: number;
  /**
   * Date from which its intervals count, in the router's format. If it is in the past for every clock, including an unset one
   * (1970-01-02 after boot), the next run is never later than the interval, even if the clock is set.
   */
  startDate: string;
  /** Script source. */
  source: string;
  /** Rights it runs with; the router refuses more than its user has. */
  policy: string;
}

export interface SchedulerEntry {
  /** Number of runs since it was added. */
  runCount: number;
  /** Time of the next run in the router's format; empty for never. */
  nextRun: string;
  disabled: boolean;
  /** Script source, or the name of a stored script. */
  source: string;
}

/**
 * The router menus that a job needs, the same over the API and over the console. All operations are idempotent. They throw the
 * adapter's errors.
 */
export interface RouterMenu {
  /** Source of a stored script, undefined when there is none with this name. */
  readScript(name: string, deadline: Deadline): Promise<string | undefined>;
  /** Stores a script, or replaces the source of an existing one. */
  writeScript(name: string, source: string, deadline: Deadline): Promise<void>;
  removeScript(name: string, deadline: Deadline): Promise<void>;
  /** Whether the script is running now. */
  isRunning(name: string, deadline: Deadline): Promise<boolean>;
  /** Ends every run of the script. */
  stopScript(name: string, deadline: Deadline): Promise<void>;
  /** Adds a scheduler entry that runs every few seconds. */
  addEntry(entry: NewEntry, deadline: Deadline): Promise<void>;
  /** A scheduler entry, undefined when there is none with this name. */
  findEntry(name: string, deadline: Deadline): Promise<SchedulerEntry | undefined>;
  removeEntry(name: string, deadline: Deadline): Promise<void>;
  /** Names of scheduler entries that contain the text. */
  listEntries(containing: string, deadline: Deadline): Promise<string[]>;
  /** Starts writing `<name>.backup`. */
  saveBackup(name: string, deadline: Deadline): Promise<void>;
  /** Starts writing `<name>.rsc`. */
  saveExport(name: string, deadline: Deadline): Promise<void>;
  /** Names of files that contain the text. */
  listFiles(containing: string, deadline: Deadline): Promise<string[]>;
  removeFile(name: string, deadline: Deadline): Promise<void>;
  /** Size of a file in bytes, undefined when there is none with this name. */
  fileSize(name: string, deadline: Deadline): Promise<number | undefined>;
}
