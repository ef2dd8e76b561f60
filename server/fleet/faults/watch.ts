import { sayCauses } from '../../platform/notices/causes.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import type { HealthReadings } from '../../../protocol/index.ts';
import { NOT_REPORTED } from '../states/types.ts';
import type { Verdict } from '../states/types.ts';
import { CLOSED_GATE, OPEN_GATE, step } from './gate.ts';
import type { Gate } from './gate.ts';
import { HEALTH_RULES } from './health-rules.ts';
import type { Ambience, HealthRule } from './rule.ts';
import type { FaultChange, FaultRules, FaultType, Finding } from './types.ts';
import { FewMap, FewSet } from '../../platform/core/few.ts';

/** The part of a heartbeat about one router. */
export interface RouterHeartbeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  reason: string | null;
}

/** What is known of a router at the start. Times are those of the clock given to {@link RouterWatch}. */
export interface WatchStart {
  uptimeSeconds: number | null;
  lastSeenAt: number | null;
  openFaults: readonly FaultType[];
  /** Nothing was known before this moment: the usual time to come back counts from here. */
  watchedSince: number;
}

interface Outage extends Finding {
  type: FaultType;
  /** Beyond the usual time to come back, milliseconds. */
  patienceMs?: number;
}

const AGENT_OFFLINE: Outage = { type: 'agent_offline', message: 'The agent of this router is offline', causes: [{ code: 'agent_away' }] };

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
  readonly #open: FewSet<FaultType>;
  /** Those that are open, or on their way to it: one at rest is as {@link CLOSED_GATE}. */
  readonly #gates = new FewMap<FaultType, Gate>();
  /** Texts of open faults, so that only a new text is a change. */
  readonly #messages = new FewMap<FaultType, string>();
  #ambience: Ambience | undefined;
  #uptimeSeconds: number | null;
  /** Time of the last heartbeat in which the router answered. */
  #lastSeenAt: number | null;
  /** Since when it has not answered, however often its agent went and came meanwhile. */
  #downSince: number | null = null;
  /** The agent's words of why it does not answer. */
  #reason: string | null = null;
  readonly #watchedSince: number;
  #rebootedAt = Number.NEGATIVE_INFINITY;

  constructor(rules: FaultRules, start: WatchStart) {
    this.#rules = rules;
    this.#open = new FewSet(start.openFaults);
    for (const type of start.openFaults) this.#gates.set(type, OPEN_GATE);
    this.#uptimeSeconds = start.uptimeSeconds;
    this.#lastSeenAt = start.lastSeenAt;
    this.#watchedSince = start.watchedSince;
  }

  /** Reads reboots and reasons. Whether the router is reachable is decided by its state: {@link onState}. */
  onHeartbeat({ reachable, uptimeSeconds, reason }: RouterHeartbeat, now: number): FaultChange[] {
    this.#reason = reachable ? null : reason;
    if (!reachable) return [];
    const changes = this.#noticeReboot(uptimeSeconds, now);
    this.#lastSeenAt = now;
    this.#uptimeSeconds = uptimeSeconds ?? this.#uptimeSeconds;
    return changes;
  }

  /**
   * Opens and resolves what follows from the router's state, so that faults and state never disagree. Call it when the state changes, and
   * at {@link dueAt}: a state becomes a fault when it has lasted for the usual time to come back.
   */
  onState({ state, since, reason }: Verdict, now: number): FaultChange[] {
    switch (state) {
      case 'answering':
        this.#downSince = null;
        return [...this.#resolve('agent_offline', since), ...this.#resolve('router_offline', since)];
      case 'not_answering':
        this.#downSince ??= since;
        return [...this.#resolve('agent_offline', since), ...this.#openIfLasting(this.#downSince, now, this.#offline(reason))];
      case 'agent_away':
        // Whether the router answers is unknown: its own fault stays as it is.
        return this.#openIfLasting(since, now, AGENT_OFFLINE);
      case 'never_seen':
        return [];
    }
  }

  /** When this state becomes a fault if it lasts; undefined when it has become one, or never does. Call it after {@link onState}. */
  dueAt({ state, since, reason }: Verdict): number | undefined {
    if (state === 'agent_away') return this.#open.has('agent_offline') ? undefined : this.#settledAt(since, AGENT_OFFLINE);
    if (state !== 'not_answering' || this.#open.has('router_offline')) return undefined;
    return this.#settledAt(this.#downSince ?? since, this.#offline(reason));
  }

  /** Sets the ambient temperatures in which the product was tested. Until then the general limits apply. */
  testedIn(ambience: Ambience | undefined): void {
    this.#ambience = ambience;
  }

  onHealth(readings: HealthReadings, now: number): FaultChange[] {
    return HEALTH_RULES.flatMap((rule) => this.#judge(rule, readings, now));
  }

  /** A fault that another component detects: it exists with this text, or is resolved (null). */
  onCondition(type: FaultType, finding: Finding | null, now: number): FaultChange[] {
    if (finding === null) return this.#resolve(type, now);
    return this.#open.has(type) ? this.#describe(type, finding) : this.#openFault(type, now, finding);
  }

  #openIfLasting(since: number, now: number, outage: Outage): FaultChange[] {
    const { type, message, causes } = outage;
    return now >= this.#settledAt(since, outage) ? this.#openFault(type, since, { message, causes }) : [];
  }

  #settledAt(since: number, { patienceMs = 0 }: Outage): number {
    return Math.max(since, this.#watchedSince) + this.#rules.offlineAfterMs + patienceMs;
  }

  #offline(reason: string | null): Outage {
    const type = 'router_offline';
    const message = 'The router is offline';
    if (reason !== NOT_REPORTED) return { type, message, causes: [{ code: 'no_answer', reason: reason ?? '', said: this.#reason ?? '' }] };
    // Only a missed report is news: the state itself begins with the last one.
    return { type, message, causes: [{ code: 'not_reported' }], patienceMs: this.#rules.heartbeatMs };
  }

  /** Detects a reboot by a decreased uptime, however often the agent reports. */
  #noticeReboot(uptime: number | null, now: number): FaultChange[] {
    const before = this.#uptimeSeconds;
    if (uptime === null || before === null || uptime + UPTIME_SLACK_SECONDS >= before) return [];
    const bootedAt = Math.min(now, Math.max(now - uptime * 1000, this.#lastSeenAt ?? Number.NEGATIVE_INFINITY));
    if (bootedAt - this.#rebootedAt < SHORTEST_BOOT_MS) return [];
    this.#rebootedAt = bootedAt;
    const causes: Cause[] = [{ code: 'uptime_back', before, after: uptime }];
    return [
      { kind: 'open', type: 'rebooted', at: bootedAt, finding: { message: 'The router was rebooted', causes } },
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
    if (gate.open || gate.streak > 0) this.#gates.set(type, gate);
    else this.#gates.delete(type);
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

const TOLD_BY_CAUSE: ReadonlySet<FaultType> = new Set(['clock_wrong', 'duplicate_serial']);

/** The text whose change is reported. Readings of clocks and sensors change constantly while a fault is open. */
function textOf(type: FaultType, { message, causes }: Finding): string {
  return TOLD_BY_CAUSE.has(type) ? sayCauses(causes) : message;
}
