import { agentNotice, faultNotice } from '../../../server/fleet/faults/notices.ts';
import { newId } from '../../../server/platform/core/ids.ts';
import { insertNotices } from '../../../server/platform/notices/store.ts';
import type { NewNotice } from '../../../server/platform/notices/types.ts';
import { inChunks } from '../../../server/platform/storage/columns.ts';
import { seedAgent, seedRouter } from '../seed.ts';
import type { SeededRouter } from '../seed.ts';
import type { Alert, Alertmanager } from './alertmanager.ts';
import type { NotifyInstances } from './instances.ts';

/** A router with the name of its site, or what stands for it in the labels of one that has none. */
export interface SitedRouter extends SeededRouter {
  site: string;
}

const FAR_MS = 24 * 3_600_000;

/** Facts of one team, told to Signalbox as its features do and to Alertmanager as a Prometheus that watches the same routers. */
export class SameFacts {
  readonly #name: string;
  readonly #team: SeededRouter;
  readonly #instances: NotifyInstances;
  readonly #alertmanager: Alertmanager;
  /** Open faults by router and type. */
  readonly #open = new Map<string, { id: string; at: number }>();
  /** When the first fact and the last end were stored. */
  firstAt = 0;
  lastEndAt = 0;

  /** @param options `name`: sites begin with it, so that its alerts are known by the site */
  constructor(options: { name: string; team: SeededRouter; instances: NotifyInstances; alertmanager: Alertmanager }) {
    this.#name = options.name;
    this.#team = options.team;
    this.#instances = options.instances;
    this.#alertmanager = options.alertmanager;
  }

  /** Its path at the receiver. */
  get path(): string {
    return `/${this.#team.teamId}`;
  }

  async addSite(): Promise<{ id: string; name: string }> {
    const id = newId(Date.now());
    const name = `${this.#name} ${id.slice(-6)}`;
    const row = { id, team_id: this.#team.teamId, name, time_zone: 'UTC', created_at: Date.now() };
    await this.#instances.storage.db.insertInto('sites').values(row).execute();
    return { id, name };
  }

  async addAgent(): Promise<string> {
    return seedAgent(this.#instances.storage, this.#team.teamId);
  }

  async addRouters(count: number, { site, agentId = this.#team.agentId }: { site: { id: string; name: string } | null; agentId?: string }) {
    const { storage } = this.#instances;
    const routers: SitedRouter[] = [];
    for (let n = 0; n < count; n += 1)
      routers.push({ ...(await seedRouter(storage, { teamId: this.#team.teamId, agentId })), site: site?.name ?? `${this.#name} none` });
    if (site === null) return routers;
    for (const chunk of inChunks(routers.map(({ routerId }) => routerId)))
      await storage.db.updateTable('routers').set({ site_id: site.id }).where('id', 'in', chunk).execute();
    return routers;
  }

  /** A fault of a router opens. */
  async open(router: SitedRouter, type = 'router_offline'): Promise<void> {
    await this.#tell([router], type, 'open');
  }

  async resolve(router: SitedRouter, type = 'router_offline'): Promise<void> {
    await this.#tell([router], type, 'resolve');
  }

  /** An agent is away, and with it its routers. */
  async away(routers: readonly SitedRouter[]): Promise<void> {
    await this.#tell(routers, 'agent_offline', 'open');
  }

  async back(routers: readonly SitedRouter[]): Promise<void> {
    await this.#tell(routers, 'agent_offline', 'resolve');
  }

  async #tell(routers: readonly SitedRouter[], type: string, phase: 'open' | 'resolve'): Promise<void> {
    const now = Date.now();
    const faults = routers.map((router) => ({ router, fault: this.#faultOf(router, type, now) }));
    if (phase === 'open') this.firstAt ||= now;
    else {
      this.lastEndAt = now;
      for (const { routerId } of routers) this.#open.delete(`${routerId} ${type}`);
    }
    await Promise.all([this.#tellSignalbox(faults, type, phase, now), this.#tellAlertmanager(faults, type, phase, now)]);
  }

  #faultOf({ routerId }: SitedRouter, type: string, now: number): { id: string; at: number } {
    const key = `${routerId} ${type}`;
    const fault = this.#open.get(key) ?? { id: newId(now), at: now };
    this.#open.set(key, fault);
    return fault;
  }

  async #tellSignalbox(faults: readonly OfRouter[], type: string, phase: 'open' | 'resolve', now: number): Promise<void> {
    const { storage } = this.#instances;
    const rows = faults.map(({ router, fault }) => ({
      id: fault.id,
      team_id: router.teamId,
      router_id: router.routerId,
      type,
      severity: 'critical',
      message: '',
      cause: '',
      causes: null,
      occurrences: 1,
      created_at: fault.at,
      updated_at: now,
      resolved_at: phase === 'open' ? null : now,
    }));
    const { teamId, agentId } = faults[0]!.router;
    const notices: NewNotice[] =
      type === 'agent_offline'
        ? [agentNotice({ teamId, agentId, kind: phase, at: now, routers: faults.length })]
        : rows.flatMap((fault) => faultNotice({ kind: phase === 'open' ? 'opened' : 'resolved', fault, at: now }) ?? []);
    await storage.writes.write(async (tx) => {
      for (const chunk of inChunks(rows))
        await tx
          .insertInto('faults')
          .values(chunk)
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ resolved_at: phase === 'open' ? null : now, updated_at: now }))
          .execute();
      await insertNotices(tx, notices, now);
    });
    this.#instances.wake();
  }

  async #tellAlertmanager(faults: readonly OfRouter[], type: string, phase: 'open' | 'resolve', now: number): Promise<void> {
    await this.#alertmanager.post(
      faults.map(({ router, fault }): Alert => ({
        labels: { alertname: type, site: router.site, router: router.routerId, severity: 'critical' },
        startsAt: new Date(fault.at),
        endsAt: new Date(phase === 'open' ? now + FAR_MS : now),
      })),
    );
  }
}

interface OfRouter {
  router: SitedRouter;
  fault: { id: string; at: number };
}
