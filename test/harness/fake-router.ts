import type { Duplex } from 'node:stream';
import type {
  ApiCommand,
  CommandReply,
  ConsoleOutput,
  Deadline,
  RouterAdapter,
  RouterFacts,
  RouterShell,
  RouterState,
  WindowSize,
} from '../../agent/routers/adapter.ts';
import type { TerminalLevel } from '../../protocol/index.ts';

export const HARDWARE_ID = 'serial-1';

const facts: RouterFacts = {
  hardwareId: HARDWARE_ID,
  serialNumber: HARDWARE_ID,
  softwareId: null,
  identity: 'MikroTik',
  softwareVersion: '7.18.2',
  model: null,
  boardName: 'CHR',
  hardwareBoard: false,
  architecture: null,
  timeZone: null,
  uptime: '1m',
  uptimeSeconds: 60,
};

/** A router adapter without a router: the test says what each operation answers. */
export class FakeRouter implements RouterAdapter {
  readonly name: string;
  readonly host = '127.0.0.1';
  forwardWay: RouterAdapter['forwardWay'] = 'auto';
  hasApi = true;
  hasSsh = false;
  terminalLevels: RouterAdapter['terminalLevels'] = [];
  reachable = true;
  /** API commands in the order they came. */
  readonly commands: ApiCommand[] = [];
  readonly #listeners = new Set<(state: RouterState) => void>();

  constructor(name = 'one') {
    this.name = name;
  }

  /** Replace to answer something else. */
  onCommand: (command: ApiCommand) => CommandReply | Promise<CommandReply> = () => ({ rows: [] });
  onConsole: (line: string) => string | Promise<string> = () => '';
  onOpenShell: (deadline: Deadline) => Promise<RouterShell> = () => Promise.reject(new Error('no shells here'));
  onOpenTcp: (target: { host: string; port: number }) => Promise<Duplex> = () => Promise.reject(new Error('no SSH here'));

  state(): RouterState {
    return { reachable: this.reachable, reason: this.reachable ? null : 'it is off', facts };
  }

  onState(listener: (state: RouterState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setReachable(reachable: boolean): void {
    this.reachable = reachable;
    for (const listener of this.#listeners) listener(this.state());
  }

  refresh(): Promise<RouterFacts> {
    return Promise.resolve(facts);
  }

  async command(command: ApiCommand): Promise<CommandReply> {
    this.commands.push(command);
    return this.onCommand(command);
  }

  async console(line: string): Promise<ConsoleOutput> {
    return { text: await this.onConsole(line), truncated: false };
  }

  openTcp(target: { host: string; port: number }): Promise<Duplex> {
    return this.onOpenTcp(target);
  }

  readFile(): Promise<Buffer> {
    return Promise.reject(new Error('no files here'));
  }

  openShell(_level: TerminalLevel, _size: WindowSize, deadline: Deadline): Promise<RouterShell> {
    return this.onOpenShell(deadline);
  }

  testLogin(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
