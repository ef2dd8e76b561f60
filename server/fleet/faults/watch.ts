import type { HealthReadings } from '../../../protocol/index.ts';
import { CLOSED_GATE, OPEN_GATE, step } from './gate.ts';
import type { Gate } from './gate.ts';
import { HEALTH_RULES } from './health-rules.ts';
import type { Ambience, HealthRule } from './rule.ts';
import type { FaultChange, FaultRules, FaultType, Finding } from './types.ts';
import { formatDuration } from './format.ts';

/** The part of a heartbeat about one router. */
export interface RouterHeartbeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  reason: string | null;
}

/** The last known state of a router. Times are those of the clock given to {@link RouterWatch}. */
export interface WatchStart {
  uptimeSeconds: number | null;
  lastSeenAt: number | null;
  openFaults: readonly FaultType[];
}

/** Uptime is rounded: only a larger decrease counts as a reboot. */
const UPTIME_SLACK_SECONDS = 5;
/** RouterOS takes longer to boot; this also bounds how often a faulty agent can report reboots. */
const SHORTEST_BOOT_MS = 10_000;

/**
 * Decides the faults of one router from agents' reports and their times. Uses no database: it returns the changes.
 * Its times are monotonic; the owner converts them into wall time.
 * Invariant: for each type, `open` and `resolve` alternate.
 */
export class RouterWatch {
  readonly #rules: FaultRules;
  readonly #open: Set<FaultType>;
  readonly #gates = new Map<FaultType, Gate>();
  /** Texts of open faults, so that only a new text is a change. */
  readonly #messages = new Map<FaultType, string>();
  #ambience: Ambience | undefined;
  #uptimeSeconds: number | null;
  /** Time of the last heartbeat in which the router answered. */
  #lastSeenAt: number | null;
  /** Time of the last heartbeat or inventory. */
  #lastHeardAt: number | null;
  /** Time of the first heartbeat in which it did not answer. */
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
      return [...back, ...this.#openIfDownTooLong(now)];
    }
    const changes = [...back, ...this.#resolve('router_offline', now), ...this.#noticeReboot(heartbeat.uptimeSeconds, now)];
    this.#downSince = null;
    this.#lastSeenAt = now;
    this.#uptimeSeconds = heartbeat.uptimeSeconds ?? this.#uptimeSeconds;
    return changes;
  }

  /** Its agent has reported its inventory, so the agent is online. The next heartbeat says whether the router answers. */
  onNamed(now: number): FaultChange[] {
    this.#lastHeardAt = now;
    return this.#resolve('agent_offline', now);
  }

  /** Sets the ambient temperatures in which the product was tested. Until then the general limits apply. */
  testedIn(ambience: Ambience | undefined): void {
    this.#ambience = ambience;
  }

  onHealth(readings: HealthReadings, now: number): FaultChange[] {
    return HEALTH_RULES.flatMap((rule) => this.#judge(rule, readings, now));
  }

  /**
   * Checks for missing reports while the agent has a tunnel.
   * @param connectedAt when the tunnel began: earlier silence of the agent says nothing about the router
   */
  onQuiet(connectedAt: number, now: number): FaultChange[] {
    if (this.#downSince !== null) return this.#openIfDownTooLong(now);
    const quietSince = Math.max(this.#lastHeardAt ?? connectedAt, connectedAt);
    if (now - quietSince < this.#rules.heartbeatMs + this.#rules.offlineAfterMs) return [];
    return this.#openFault('router_offline', quietSince + this.#rules.heartbeatMs, {
      message: 'The router is offline',
      cause: 'its agent no longer reports it: it was removed there, or another device answers in its place',
    });
  }

  /** The agent has had no tunnel since `goneAt`, so it is unknown whether the router answers. */
  onAgentAway(goneAt: number, now: number): FaultChange[] {
    if (now - goneAt < this.#rules.offlineAfterMs) return [];
    const missed = this.#lastHeardAt === null ? goneAt : this.#lastHeardAt + this.#rules.heartbeatMs;
    // A heartbeat that was due while the tunnel was still up was missed for another reason.
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

  /** A fault that another component detects: it exists with this text, or is resolved (null). */
  onCondition(type: FaultType, finding: Finding | null, now: number): FaultChange[] {
    if (finding === null) return this.#resolve(type, now);
    return this.#open.has(type) ? this.#describe(type, finding) : this.#openFault(type, now, finding);
  }

  #openIfDownTooLong(now: number): FaultChange[] {
    const since = this.#downSince;
    if (since === null || now - since < this.#rules.offlineAfterMs) return [];
    return this.#openFault('router_offline', since, {
      message: 'The router is offline',
      cause: this.#reason ?? 'it does not answer its agent',
    });
  }

  /** Detects a reboot by a decreased uptime, however often the agent reports. */
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

/** The text whose change is reported. Readings of clocks and sensors change constantly while a fault is open. */
function textOf(type: FaultType, { message, cause }: Finding): string {
  return TOLD_BY_CAUSE.has(type) ? cause : message;
}
