import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { Program } from '../program.ts';
import type { Line } from './line.ts';
import { Volume } from './volume.ts';

const PROGRAM = 'test/harness/chaos/programs/agent.ts';
/** Room for a rewritten journal and little else. */
const STATE_MEGABYTES = 6;

/** Environment of programs that start again and again: where Node keeps what it has compiled. @param folder of the run */
export function compileCache(folder: string): Record<string, string> {
  return { NODE_COMPILE_CACHE: path.join(folder, 'compiled') };
}

/** A machine with an agent on it: its disk, its clock, and the line to the control plane. */
export class AgentMachine {
  readonly line: Line;
  readonly disk: Volume;
  readonly program: Program;
  /** The present one and every second one before. */
  readonly programs: Program[];
  readonly #folder: string;
  readonly #routers: object[];

  private constructor(folder: string, disk: Volume, { line, routers }: { line: Line; routers: object[] }) {
    this.line = line;
    this.disk = disk;
    this.#folder = folder;
    this.#routers = routers;
    this.program = new Program(PROGRAM, [path.join(folder, 'agent.yaml'), path.join(folder, 'clock')], compileCache(path.dirname(folder)));
    this.programs = [this.program];
  }

  /** @param routers as in the agent's configuration */
  static async create(folder: string, parts: { line: Line; routers: object[] }): Promise<AgentMachine> {
    const disk = await Volume.create(path.join(folder, 'state'), STATE_MEGABYTES);
    const machine = new AgentMachine(folder, disk, parts);
    await machine.#configure('agent.yaml', 'state');
    await machine.setClock(0);
    return machine;
  }

  get credentialsFile(): string {
    return path.join(this.#folder, 'credentials.json');
  }

  async #configure(file: string, state: string): Promise<void> {
    const server = `http://127.0.0.1:${this.line.port}`;
    await writeFile(
      path.join(this.#folder, file),
      stringify({ server, credentials: 'credentials.json', state, log_level: 'warn', routers: this.#routers }),
    );
  }

  /** Sets the machine's clock wrong by this many milliseconds. */
  async setClock(errorMs: number): Promise<void> {
    await writeFile(path.join(this.#folder, 'clock'), String(errorMs));
  }

  /** Copies the state folder as it is now. */
  async takeImage(): Promise<void> {
    await rm(this.#image, { recursive: true, force: true });
    await cp(this.disk.folder, this.#image, { recursive: true, filter: (file) => !file.endsWith('ballast') }).catch(() => undefined);
  }

  /** Restores the last copy of the state folder; the agent must be stopped. */
  async restoreImage(): Promise<void> {
    await this.wipe();
    await cp(this.#image, this.disk.folder, { recursive: true }).catch(() => undefined);
  }

  /** The agent must be down. */
  async wipe(): Promise<void> {
    for (const name of await readdir(this.disk.folder)) await rm(path.join(this.disk.folder, name), { recursive: true, force: true });
  }

  /** A second machine with the same credentials and routers, and a memory of its own. */
  async twin(): Promise<Program> {
    await rm(path.join(this.#folder, 'twin-state'), { recursive: true, force: true });
    await mkdir(path.join(this.#folder, 'twin-state'));
    await this.#configure('twin.yaml', 'twin-state');
    const twin = new Program(
      PROGRAM,
      [path.join(this.#folder, 'twin.yaml'), path.join(this.#folder, 'clock')],
      compileCache(path.dirname(this.#folder)),
    );
    this.programs.push(twin);
    return twin;
  }

  async remove(): Promise<void> {
    await this.program.kill();
    await this.line.close();
    await this.disk.remove();
  }

  get #image(): string {
    return path.join(this.#folder, 'image');
  }
}
