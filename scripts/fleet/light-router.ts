import { createHash } from 'node:crypto';
import type { HealthReadings, Inventory, RouterHeartbeat, RouterReason, SeenDevice } from '../../protocol/index.ts';
import { exportOf } from './light-export.ts';
import { answerCommand } from './light-menus.ts';
import type { CommandAnswer } from './light-menus.ts';
import type { RouterView } from './router-view.ts';
import type { PlannedRouter } from './plan.ts';
import { between, seeded } from './random.ts';
import type { Random } from './random.ts';

/** Why a router does not answer, in an agent's words. */
export const AWAY_REASONS: Readonly<Partial<Record<RouterReason, string>>> = {
  timeout: 'no answer within 10 s',
  refused: 'the router refuses connections to its API',
  no_route: 'no route to the router',
  login_refused: 'the router refuses the login: invalid user name or password',
  closed: 'the router closed the connection',
};

const MIB = 1024 * 1024;

/**
 * A router that exists only as what its agent says of it: facts, a heartbeat, health, devices and the answers to some commands. Lists are
 * made when they are asked for, so that thousands of routers fit into one process.
 */
export class LightRouter implements RouterView {
  readonly plan: PlannedRouter;
  readonly #random: Random;
  readonly #now: () => number;
  identity: string;
  version: string;
  /** Lines that scripts and commands have added to the configuration. */
  readonly changes: string[] = [];
  #away: RouterReason | null = null;
  #bootedAt: number;
  /** Overrides of single health readings: a fault. */
  readonly ills: Partial<HealthReadings> = {};
  /** Saved backups by the id of their job, then by part. */
  readonly backups = new Map<string, Map<string, Buffer>>();

  constructor(plan: PlannedRouter, now: () => number) {
    this.plan = plan;
    this.identity = plan.identity;
    this.version = plan.version;
    this.#now = now;
    this.#bootedAt = now() - plan.uptimeSeconds * 1000;
    this.#random = seeded(Number.parseInt(createHash('sha256').update(plan.serial).digest('hex').slice(0, 8), 16));
  }

  get name(): string {
    return this.plan.name;
  }

  get hardwareId(): string {
    return this.plan.serial;
  }

  get isAway(): boolean {
    return this.#away !== null;
  }

  get uptimeSeconds(): number {
    return Math.floor((this.#now() - this.#bootedAt) / 1000);
  }

  /** It answers its agent no more, or again with null. */
  setAway(reason: RouterReason | null): void {
    this.#away = reason;
  }

  reboot(): void {
    this.#bootedAt = this.#now();
  }

  heartbeat(): RouterHeartbeat {
    if (this.#away === null) return { name: this.name, reachable: true, uptime_seconds: this.uptimeSeconds, reason: null };
    const reason = AWAY_REASONS[this.#away] ?? this.#away;
    return { name: this.name, reachable: false, uptime_seconds: null, reason, reason_code: this.#away };
  }

  inventory(): Inventory {
    const { host, serial, softwareId, model } = this.plan;
    return {
      type: 'inventory',
      router: this.name,
      host,
      facts: {
        hardware_id: serial,
        serial_number: serial,
        software_id: softwareId,
        identity: this.identity,
        software_version: this.version,
        model: model.model,
        board_name: model.board,
        hardware_board: true,
        architecture: model.architecture,
        time_zone: null,
        uptime: `${Math.floor(this.uptimeSeconds / 86_400)}d`,
        uptime_seconds: this.uptimeSeconds,
        terminal_levels: [],
      },
    };
  }

  readings(): HealthReadings {
    const { model } = this.plan;
    const drift = (value: number, by: number): number => Math.round((value + (this.#random() - 0.5) * by) * 10) / 10;
    return {
      cpu_load: between(this.#random, 1, model.role === 'core' ? 35 : 18),
      temperatures: Object.entries(model.temperatures).map(([name, celsius]) => ({ name, celsius: drift(celsius, 4) })),
      voltage: model.hasTwoSupplies ? null : drift(24, 0.6),
      free_memory: Math.floor(model.memoryMb * MIB * (0.35 + this.#random() * 0.3)),
      total_memory: model.memoryMb * MIB,
      free_hdd: Math.floor(model.diskMb * MIB * 0.6),
      total_hdd: model.diskMb * MIB,
      clock_offset_seconds: drift(0, 0.8),
      wan: [{ interface: 'ether1', running: true }],
      position: null,
      ...(model.hasTwoSupplies ? { states: [`psu1-state`, 'psu2-state', 'fan-state'].map((name) => ({ name, state: 'ok' })) } : {}),
      ...this.ills,
    };
  }

  /** The same ones every time, but for some that come and go. */
  devices(): SeenDevice[] {
    const base = createHash('sha256').update(this.plan.serial).digest('hex');
    return Array.from({ length: this.plan.devices }, (_, index) => {
      const last = index.toString(16).toUpperCase().padStart(2, '0');
      // Prefixes of makers whose devices stand behind such routers.
      const prefix = ['DC:A6:32', '00:1B:21', '3C:5A:B4', 'B8:27:EB', 'F0:9F:C2'][index % 5]!;
      const mac = `${prefix}:${base.slice(0, 2).toUpperCase()}:${base.slice(2, 4).toUpperCase()}:${last}`;
      const hostname = ['till', 'camera', 'phone', 'office', 'printer', 'meter'][index % 6]!;
      return { mac, ip: `192.168.88.${20 + index}`, interface: 'bridge', hostname: `${hostname}-${index + 1}` };
    });
  }

  /** Text of `/export`. */
  export(): string {
    return exportOf(this, new Date(this.#now()));
  }

  command(path: string, words: readonly string[]): CommandAnswer {
    return answerCommand(this, path, words);
  }

  /** Keeps files for the control plane to fetch. */
  save(id: string, parts: readonly string[]): void {
    const files = this.backups.get(id) ?? new Map<string, Buffer>();
    for (const part of parts) files.set(part, part === 'binary' ? this.#binary() : Buffer.from(this.export()));
    this.backups.set(id, files);
  }

  #binary(): Buffer {
    // What RouterOS begins its binary backups with; nothing can restore this one.
    const magic = Buffer.from([0x88, 0xac, 0xa1, 0xb1]);
    return Buffer.concat([magic, Buffer.from(`virtual backup of ${this.identity}\n${this.export()}`)]);
  }
}
