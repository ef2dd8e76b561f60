import type { HealthReadings } from '../../../protocol/index.ts';
import { CLOSED_GATE, OPEN_GATE, step } from './gate.ts';
import type { Gate } from './gate.ts';
import { HEALTH_RULES } from './health-rules.ts';
import type { Ambience, HealthRule } from './rule.ts';
import type { FaultChange, FaultRules, FaultType, Finding } from './types.ts';
import { formatDuration } from './format.ts';

/** What a heartbeat says of one router. */
export interface RouterHeartbeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  reason: string | null;
}

/** What is remembered of a router between two heartbeats. Moments are of the clock that is given to {@link RouterWatch}. */
export interface WatchStart {
  uptimeSeconds: number | null;
  lastSeenAt: number | null;
  openFaults: readonly FaultType[];
}

/** Uptime is rounded and may be read twice: only more than this is going back. */
const UPTIME_SLACK_SECONDS = 5;
/** No RouterOS is up and answers in less; an agent that says so writes no more than this. */
const SHORTEST_BOOT_MS = 10_000;

/**
 * The faults of one router, decided from what agents say and when. Knows no database: it answers what changed.
 * Its moments are of any clock that nobody sets: the owner tells them in wall time.
 * Invariant: of each type, `open` and `resolve` are answered in turn.
 */
export class RouterWatch {
  readonly #rules: FaultRules;
  readonly #open: Set<FaultType>;
  readonly #gates = new Map<FaultType, Gate>();
  /** Messages of open faults, so that only a change is told. */
  readonly #messages = new Map<FaultType, string>();
  #ambience: Ambience | undefined;
  #uptimeSeconds: number | null;
  /** The last heartbeat that said it answers. */
  #lastSeenAt: number | null;
  /** The last heartbeat, or inventory, that said anything. */
  #lastHeardAt: number | null;
  /** The first heartbeat that said it does not answer. */
  #downSince: number | null = null;
  #reason: string | null = null;
  #rebootedAt = Number.NEGATIVE_INFINITY;

  constructor(rules: FaultRules, start: WatchStart) {
    this.#rules = rules;
    this.#open = new Set(start.openFaults);
    for (const type of start.openFaults) this.#gates.set(type, OPEN_GATE);
    this.#uptimeSeconds = start.uptimeSeconds;
    this.#lastSeenAt = start.lastSeenAt;
    this.#lastHeardAt = start.lastSeenAt;
  }

  onHeartbeat(heartbeat: RouterHeartbeat, now: number): FaultChange[] {
    this.#lastHeardAt = now;
    const back = this.#resolve('agent_offline', now);
    if (!heartbeat.reachable) {
      this.#downSince ??= now;
      this.#reason = heartbeat.reason;
      return [...back, ...this.#openWhenLongDown(now)];
    }
    const changes = [...back, ...this.#resolve('router_offline', now), ...this.#noticeReboot(heartbeat.uptimeSeconds, now)];
    this.#downSince = null;
    this.#lastSeenAt = now;
    this.#uptimeSeconds = heartbeat.uptimeSeconds ?? this.#uptimeSeconds;
    return changes;
  }

  /** Its agent has said who it is: the agent is there and has it. Whether it answers is for the next heartbeat to say. */
  onNamed(now: number): FaultChange[] {
    this.#lastHeardAt = now;
    return this.#resolve('agent_offline', now);
  }

  /** In which temperatures this product was tested; until this is called, limits for any product count. */
  testedIn(ambience: Ambience | undefined): void {
    this.#ambience = ambience;
  }

  onHealth(readings: HealthReadings, now: number): FaultChange[] {
    return HEALTH_RULES.flatMap((rule) => this.#judge(rule, readings, now));
  }

  /**
   * Time has passed while the agent had a tunnel.
   * @param connectedAt when the tunnel began: the agent's silence before says nothing about the router
   */
  onQuiet(connectedAt: number, now: number): FaultChange[] {
    if (this.#downSince !== null) return this.#openWhenLongDown(now);
    const quietSince = Math.max(this.#lastHeardAt ?? connectedAt, connectedAt);
    if (now - quietSince < this.#rules.heartbeatMs + this.#rules.offlineAfterMs) return [];
    return this.#openFault('router_offline', quietSince + this.#rules.heartbeatMs, {
      message: 'The router is offline',
      cause: 'its agent no longer reports it: it was removed there, or another device answers in its place',
    });
  }

  /** The agent has had no tunnel since `goneAt`. Whether the router answers is then unknown. */
  onAgentAway(goneAt: number, now: number): FaultChange[] {
    if (now - goneAt < this.#rules.offlineAfterMs) return [];
    const missed = this.#lastHeardAt === null ? goneAt : this.#lastHeardAt + this.#rules.heartbeatMs;
    // A heartbeat that was due while the tunnel still stood was missed for another reason.
    const at = Math.max(goneAt, missed);
    return this.#openFault('agent_offline', Math.min(at, now), {
      message: 'The agent of this router is offline',
      cause: 'it has no tunnel to the control plane; whether the router answers is unknown',
    });
  }

  /** The agent has a tunnel again. */
  onAgentBack(now: number): FaultChange[] {
    return this.#resolve('agent_offline', now);
  }

  /** Something that is decided elsewhere: it is so, in these words, or is not so any more (null). */
  onCondition(type: FaultType, finding: Finding | null, now: number): FaultChange[] {
    if (finding === null) return this.#resolve(type, now);
    return this.#open.has(type) ? this.#describe(type, finding) : this.#openFault(type, now, finding);
  }

  #openWhenLongDown(now: number): FaultChange[] {
    const since = this.#downSince;
    if (since === null || now - since < this.#rules.offlineAfterMs) return [];
    return this.#openFault('router_offline', since, {
      message: 'The router is offline',
      cause: this.#reason ?? 'it does not answer its agent',
    });
  }

  /** Reboots show as an uptime that goes back; how often the agent checks in does not matter. */
  #noticeReboot(uptime: number | null, now: number): FaultChange[] {
    const before = this.#uptimeSeconds;
    if (uptime === null || before === null || uptime + UPTIME_SLACK_SECONDS >= before) return [];
    const bootedAt = Math.min(now, Math.max(now - uptime * 1000, this.#lastSeenAt ?? Number.NEGATIVE_INFINITY));
    if (bootedAt - this.#rebootedAt < SHORTEST_BOOT_MS) return [];
    this.#rebootedAt = bootedAt;
    const cause = `its uptime went back from ${formatDuration(before)} to ${formatDuration(uptime)}`;
    return [
      { kind: 'open', type: 'rebooted', at: bootedAt, finding: { message: 'The router was rebooted', cause } },
      { kind: 'resolve', type: 'rebooted', at: now },
    ];
  }

  #judge(rule: HealthRule, readings: HealthReadings, now: number): FaultChange[] {
    const judgement = rule.judge(readings, this.#ambience);
    if (!judgement) return [];
    const { type, patience } = rule;
    const { verdict, ...finding } = judgement;
    const before = this.#gates.get(type) ?? CLOSED_GATE;
    const { gate, changedAt } = step(before, verdict, now, patience);
    this.#gates.set(type, gate);
    if (changedAt !== undefined) {
      return gate.open ? this.#openFault(type, changedAt, finding) : this.#resolve(type, changedAt);
    }
    return gate.open && verdict === 'bad' ? this.#describe(type, finding) : [];
  }

  #describe(type: FaultType, finding: Finding): FaultChange[] {
    const words = textOf(type, finding);
    if (this.#messages.get(type) === words) return [];
    this.#messages.set(type, words);
    return [{ kind: 'describe', type, finding }];
  }

  #openFault(type: FaultType, at: number, finding: Finding): FaultChange[] {
    if (this.#open.has(type)) return [];
    this.#open.add(type);
    this.#messages.set(type, textOf(type, finding));
    return [{ kind: 'open', type, at, finding }];
  }

  #resolve(type: FaultType, at: number): FaultChange[] {
    return this.#open.delete(type) ? [{ kind: 'resolve', type, at }] : [];
  }
}

const TOLD_BY_CAUSE: ReadonlySet<FaultType> = new Set(['clock_wrong', 'move_requested', 'duplicate_serial']);

/** What a change of counts as news. A clock drifts on while its fault is open; what sensors read changes all the time. */
function textOf(type: FaultType, { message, cause }: Finding): string {
  return TOLD_BY_CAUSE.has(type) ? cause : message;
}
