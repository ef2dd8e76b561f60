import { channelWord } from './channel-names.ts';
import { sayCauses } from '../../../platform/notices/causes.ts';
import type { Cause } from '../../../platform/notices/causes.ts';
import { OFF_REASONS } from '../channels/types.ts';
import type { OffReason } from '../channels/types.ts';
import type { Catalogue } from './catalogue.ts';
import { cleanDetail, cleanName } from './clean.ts';
import { durationOf } from './times.ts';
import type { Named, ThreadSubject, ThreadView } from './types.ts';

/** What there is to say about a thread, before times and the kind of the message come to it. Names and details are clean from here on. */
export interface Story {
  /** "Depot Madrid"; null when the state says everything. */
  place: string | null;
  /** "agent away", while it lasts or as it happened. */
  state: string;
  /** "agent was away", once it is over; the same as `state` for most. */
  stateAfter: string;
  /** Numbers behind a comma: "500 routers not visible". */
  tail: string | null;
  /** An event has a time, a state a beginning and an end; a message about the address has neither. */
  time: 'state' | 'event' | 'none';
  /** Sentences below the first one, while it lasts. */
  lines: readonly string[];
  linesAfter: readonly string[];
}

/** Tells the subject of a thread in one language. */
export function storyOf(view: ThreadView, words: Catalogue): Story {
  const { subject } = view;
  switch (subject.type) {
    case 'agent':
      return agentStory(subject, view.stillOpen, words);
    case 'router':
      return routerStory(subject, words);
    case 'site':
      return stateOf(cleanName(subject.site.name), words.routersFault(subject.affected, subject.of, subject.fault));
    case 'agent_routers':
      return stateOf(cleanName(subject.agent.name), words.routersFault(subject.affected, subject.of, subject.fault));
    case 'storm':
      return { ...stateOf(null, words.storm(subject.sites, subject.routers)), lines: [words.firstWas(cleanName(subject.first))] };
    case 'several':
      return { ...stateOf(null, severalState(subject, words)), time: 'event' };
    case 'server':
      return serverStory(subject, words);
    case 'delivery':
      return deliveryStory(subject, view.team, words);
    case 'jobs':
    case 'campaign':
    case 'forward':
    case 'config':
    case 'agent_revoked':
      return { ...eventStory(subject, words), time: 'event' };
    case 'digest':
      return { ...stateOf(null, words.digest(view.itemCount)), time: 'none' };
    case 'held_back':
      return { ...stateOf(null, words.heldBack(subject.messages)), time: 'none', lines: [words.seeConsole] };
    case 'test':
    case 'proof':
      return addressStory(subject, words);
  }
}

type Of<T extends ThreadSubject['type']> = Extract<ThreadSubject, { type: T }>;

function agentStory({ agent, site, routers }: Of<'agent'>, stillOpen: number, words: Catalogue): Story {
  const agentLine = site === null ? [] : [words.agentOfSite(cleanName(agent.name))];
  // Routers that stay offline are in the first sentence.
  const back = routers > 0 && stillOpen === 0 ? [words.routersBack(routers)] : [];
  return {
    ...stateOf(cleanName((site ?? agent).name), words.agentAway),
    stateAfter: words.agentWasAway,
    tail: routers > 0 ? words.notVisible(routers) : null,
    lines: [...(routers > 0 ? [words.routersHidden(routers)] : []), ...agentLine],
    linesAfter: [...back, ...agentLine],
  };
}

function routerStory(subject: Of<'router'>, words: Catalogue): Story {
  const { router, site, fault } = subject;
  return {
    ...stateOf(placeOf(router, site), fault === 'temperature' ? temperatureState(subject, words) : words.faults[fault]),
    time: fault === 'rebooted' ? 'event' : 'state',
    lines: given(causeOf(subject, words)).map((observation) => words.cause(observation)),
  };
}

function temperatureState({ causes = [] }: Of<'router'>, words: Catalogue): string {
  const celsius = causes.filter((cause) => cause.code === 'celsius').map((cause) => cause.celsius);
  if (celsius.length === 0) return words.faults.temperature;
  return Math.min(...celsius) < 0 ? words.tooCold : words.tooHot;
}

/** In the reader's language. Facts of older versions have English words only. Not clean yet: names of routers are in it. */
export function causeOf({ detail, causes = [] }: { detail: string; causes?: readonly Cause[] | undefined }, words: Catalogue): string {
  return causes.length === 0 ? detail : sayCauses(causes, words.causes);
}

function serverStory(subject: Of<'server'>, words: Catalogue): Story {
  const { warning, detail, affected, of } = subject;
  if (warning !== 'contact_lost') return { ...stateOf(words.thisServer, words.server[warning]), lines: given(causeOf(subject, words)) };
  const lines = [words.contactLostReason, ...given(detail)];
  return { ...stateOf(words.thisServer, words.contactLost(affected ?? 0, of ?? 0)), lines };
}

function deliveryStory({ channel, address, reason, to, group }: Of<'delivery'>, team: string, words: Catalogue): Story {
  const [name, shown] = [cleanName(to), cleanName(address)];
  const by = cleanName(channelWord(channel, words.channels));
  const fails = to === '' || name === shown ? words.deliveryFails(shown, by) : words.deliveryFails(name, `${by}, ${shown}`);
  const why = isOffReason(reason) ? [words.offReasons[reason]] : given(reason);
  const of = group === '' ? [] : [words.deliveryOf(cleanName(group))];
  return { ...stateOf(words.thisTeam(cleanName(team)), fails), lines: [...why, ...of, words.untilProved] };
}

function isOffReason(reason: string): reason is OffReason {
  return OFF_REASONS.some((known) => known === reason);
}

function eventStory(subject: Of<'jobs' | 'campaign' | 'forward' | 'config' | 'agent_revoked'>, words: Catalogue): Story {
  switch (subject.type) {
    case 'jobs': {
      const [state = '', ...others] = words.jobs(subject.outcomes);
      return { ...stateOf(placeOf(subject.router, subject.site), state), tail: join(others), lines: given(subject.detail) };
    }
    case 'campaign': {
      const place = words.campaignNamed(cleanName(subject.campaign.name));
      return { ...stateOf(place, words.campaign[subject.change]), tail: join(words.campaignCounts(subject.counts)) };
    }
    case 'forward':
      return stateOf(placeOf(subject.forward, subject.router), words.forward[subject.change]);
    case 'config': {
      const place = placeOf(subject.router, subject.site);
      return { ...stateOf(place, words.configChanged), tail: words.linesChanged(subject.added, subject.removed) };
    }
    case 'agent_revoked':
      return stateOf(placeOf(subject.agent, subject.site), words.agentRevoked);
  }
}

/** "50 routers: rebooted", "12 routers: 500 jobs failed, 3 expired" */
function severalState({ of, count, routers, outcomes }: Of<'several'>, words: Catalogue): string {
  const what = routers === null ? words.digest(count) : words.routers(routers);
  return `${what}: ${of === 'job' ? words.jobs(outcomes).join(', ') : momentState(of, words)}`;
}

function momentState(of: Exclude<Of<'several'>['of'], 'job'>, words: Catalogue): string {
  switch (of) {
    case 'fault.rebooted':
      return words.faults.rebooted;
    case 'config.changed':
      return words.configChanged;
    case 'agent.revoked':
      return words.agentRevoked;
    case 'forward.created':
      return words.forward.created;
    case 'forward.closed':
      return words.forward.closed;
  }
}

function addressStory(subject: Of<'test' | 'proof'>, words: Catalogue): Story {
  const person = cleanName(subject.by);
  if (subject.type === 'test') {
    const line = subject.group === null ? words.testOfAddress(person) : words.testOfGroup(cleanName(subject.group.name), person);
    return { ...stateOf(null, words.testSubject), time: 'none', lines: [line] };
  }
  const validFor = durationOf(subject.validMs, words.locale, 'long');
  const how = subject.code === null ? words.proofLink(validFor) : words.proofCode(subject.code, validFor);
  return { ...stateOf(null, words.proofSubject(subject.code)), time: 'none', lines: [words.proofBy(person), how, words.notMe] };
}

function stateOf(place: string | null, state: string): Story {
  return { place, state, stateAfter: state, tail: null, time: 'state', lines: [], linesAfter: [] };
}

/** "core-1 (Depot Madrid)". */
export function placeOf(record: Named, around: Named | null): string {
  const name = cleanName(record.name);
  const outer = around === null ? name : cleanName(around.name);
  return outer === name ? name : `${name} (${outer})`;
}

function given(detail: string): string[] {
  const text = cleanDetail(detail);
  return text === '' ? [] : [text];
}

function join(parts: readonly string[]): string | null {
  return parts.length === 0 ? null : parts.join(', ');
}
