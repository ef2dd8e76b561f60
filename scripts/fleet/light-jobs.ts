import type { AgentMessage, JobOffer, JobResult, OpenJob } from '../../protocol/index.ts';
import type { LightRouter } from './light-router.ts';
import { runScript } from './light-script.ts';
import type { ScriptRun } from './light-script.ts';

interface HeldJob {
  offer: JobOffer;
  entry: OpenJob;
}

/** What the jobs of an agent need of it. */
export interface JobHost {
  router(name: string): LightRouter | undefined;
  send(message: AgentMessage): void;
  /** Calls back after so many milliseconds, unless the agent is stopped before. */
  later(ms: number, run: () => void): void;
  /** Of a guarded script that cut the agent off, or of a reboot: the router's heartbeat has changed. */
  routerChanged(router: LightRouter): void;
  /** How many times longer than ordinary everything takes. */
  slowness(): number;
}

/** Jobs of one light agent. The journal is in memory: an agent that forgets it answers as one whose disk was wiped. */
export class LightJobs {
  readonly #host: JobHost;
  readonly #held = new Map<string, HeldJob>();

  constructor(host: JobHost) {
    this.#host = host;
  }

  /** For `ready`. */
  open(): OpenJob[] {
    return [...this.#held.values()].map(({ entry }) => entry);
  }

  forget(): void {
    this.#held.clear();
  }

  offered(offer: JobOffer): void {
    const { job_id: jobId } = offer;
    const known = this.#held.get(jobId);
    if (known) return;
    const router = this.#host.router(offer.router);
    const reason = !router
      ? 'unknown_router'
      : router.hardwareId !== offer.hardware_id
        ? 'wrong_router'
        : router.isAway
          ? 'router_unreachable'
          : undefined;
    if (reason !== undefined) return this.#host.send({ type: 'job.declined', job_id: jobId, reason });
    this.#held.set(jobId, { offer, entry: { job_id: jobId, state: 'accepted' } });
    this.#host.send({ type: 'job.accepted', job_id: jobId });
  }

  go(jobId: string): void {
    const job = this.#held.get(jobId);
    const router = job && this.#host.router(job.offer.router);
    if (job?.entry.state !== 'accepted' || !router) return;
    const { offer } = job;
    if (offer.make_backup) router.save(jobId, ['binary', 'export']);
    job.entry = { job_id: jobId, state: 'begun' };
    this.#host.send({ type: 'job.began', job_id: jobId });
    const run = runScript(router, offer.script, offer.timeout_ms);
    const guardMs = offer.undo_unless_reachable_seconds === undefined ? undefined : offer.undo_unless_reachable_seconds * 1000;
    if (guardMs !== undefined) this.#host.send({ type: 'job.guard', job_id: jobId, state: 'armed', fires_in_ms: guardMs });
    this.#host.later(run.durationMs * this.#host.slowness(), () => this.#ended(job, router, run, guardMs));
  }

  revoked(jobId: string): void {
    const job = this.#held.get(jobId);
    if (job?.entry.state !== 'accepted') return;
    job.entry = { job_id: jobId, state: 'refused' };
    this.#host.send({ type: 'job.refused', job_id: jobId });
  }

  acknowledged(jobId: string): void {
    this.#held.delete(jobId);
  }

  #ended(job: HeldJob, router: LightRouter, run: ScriptRun, guardMs: number | undefined): void {
    // It was forgotten meanwhile.
    if (this.#held.get(job.offer.job_id) !== job) return;
    if (run.reboots) this.#reboot(router);
    if (run.cutsOff) {
      router.setAway('timeout');
      this.#host.routerChanged(router);
      // Without a guard, somebody has to drive there: an hour is a fast driver.
      this.#host.later(guardMs ?? 3_600_000, () => this.#backFromCut(job, router, run, guardMs));
      if (guardMs !== undefined) return;
    } else if (guardMs !== undefined) {
      this.#host.send({ type: 'job.guard', job_id: job.offer.job_id, state: 'disarmed', fires_in_ms: null });
    }
    this.#finish(job, router, run.result);
  }

  #backFromCut(job: HeldJob, router: LightRouter, run: ScriptRun, guardMs: number | undefined): void {
    router.changes.splice(run.changesBefore);
    router.setAway(null);
    this.#host.routerChanged(router);
    if (guardMs === undefined) return;
    const error = 'the router could not be reached after the script, and restored the configuration from before it';
    this.#finish(job, router, { ...run.result, outcome: 'failed', reason: 'rolled_back', error });
  }

  #reboot(router: LightRouter): void {
    router.setAway('timeout');
    this.#host.routerChanged(router);
    this.#host.later(40_000, () => {
      router.reboot();
      router.setAway(null);
      this.#host.routerChanged(router);
    });
  }

  #finish({ offer }: HeldJob, router: LightRouter, result: JobResult): void {
    if (offer.make_backup) router.save(offer.job_id, ['export_after']);
    this.#held.set(offer.job_id, { offer, entry: { job_id: offer.job_id, state: 'ended', result } });
    this.#host.send({ type: 'job.ended', job_id: offer.job_id, result });
  }
}
