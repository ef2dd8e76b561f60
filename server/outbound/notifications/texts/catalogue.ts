import type { OffReason } from '../channels/types.ts';
import type { CauseWords } from '../../../platform/notices/causes.ts';
import type { PlainChannel } from './channel-names.ts';
import type { Moment } from './times.ts';
import type { FaultType, JobOutcomes, Locale, MessageKind, ThreadSubject, Tone } from './types.ts';

type Subject<T extends ThreadSubject['type']> = Extract<ThreadSubject, { type: T }>;
export type CampaignSubject = Subject<'campaign'>;

/**
 * Every phrase of the messages. A language is one object of this type, so a missing phrase does not compile. A state is a short phrase
 * that stands behind the name of a place: "Depot Madrid: agent away since 08:31".
 */
export interface Catalogue {
  locale: Locale;

  /** In front of the subject. */
  prefixes: Record<Exclude<MessageKind, 'acknowledged'> | 'flapping' | 'quiet' | 'stays_open', string>;
  takenOver(person: string): string;
  tones: Record<Tone, string>;
  labels: {
    open: string;
    /** The link that proves an address. */
    confirm: string;
    acknowledge: string;
    unsubscribe: string;
    /** @param group null where it is more than one */
    reason(team: string, group: string | null): string;
    /** Somebody who is to prove an address is in no group yet. */
    reasonOfProof: string;
    /** What only administrators hear; no group need name them. */
    reasonOfAdmin(team: string): string;
  };

  /** States. */
  faults: Record<FaultType, string>;
  /** Of `faults.temperature`, where the readings say which. */
  tooHot: string;
  tooCold: string;
  agentAway: string;
  agentWasAway: string;
  agentBack: string;
  /** Behind a comma: "500 routers not visible". */
  notVisible(routers: number): string;
  stillOffline(stillOpen: number, routers: number): string;
  routersFault(affected: number, of: number, fault: FaultType): string;
  jobs(outcomes: JobOutcomes): string[];
  campaign: Record<CampaignSubject['change'], string>;
  campaignCounts(counts: CampaignSubject['counts']): string[];
  forward: Record<Subject<'forward'>['change'], string>;
  configChanged: string;
  linesChanged(added: number, removed: number): string;
  agentRevoked: string;
  deliveryFails(address: string, channel: string): string;
  /** Why an address is switched off. */
  offReasons: Record<OffReason, string>;
  /** The group whose message it was. */
  deliveryOf(group: string): string;
  untilProved: string;
  channels: Record<PlainChannel, string>;
  server: Record<Exclude<Subject<'server'>['warning'], 'contact_lost'>, string>;
  contactLost(affected: number, of: number): string;
  /** Agents and routers without a site are in none. */
  storm(sites: number, routers: number): string;
  digest(events: number): string;
  heldBack(messages: number): string;

  /** Names of things that have none. */
  thisServer: string;
  thisTeam(team: string): string;
  campaignNamed(name: string): string;

  /** Times. */
  moment(moment: Moment): string;
  since(moment: Moment): string;
  at(moment: Moment): string;
  span(from: Moment, to: Moment, duration: string): string;

  /** Sentences below the first one. */
  agentOfSite(agent: string): string;
  routersHidden(routers: number): string;
  routersBack(routers: number): string;
  /** In front of what was observed. */
  cause(observation: string): string;
  causes: CauseWords;
  firstWas(name: string): string;
  openOf(open: number, all: number): string;
  openFor(duration: string): string;
  nobodyAcknowledged(duration: string): string;
  comesAndGoes(times: number, duration: string): string;
  quietNow: string;
  staysOpen: string;
  seeConsole: string;
  contactLostReason: string;
  routers(count: number): string;
  more(count: number): string;

  /** Messages about the address itself. */
  testSubject: string;
  testOfGroup(group: string, person: string): string;
  testOfAddress(person: string): string;
  /** With the code, if there is one: a text message has nothing but the subject. */
  proofSubject(code: string | null): string;
  proofBy(person: string): string;
  proofCode(code: string, duration: string): string;
  proofLink(duration: string): string;
  notMe: string;

  /** What the Telegram bot says to somebody who has pressed Start. */
  bot: { proved: string; linkEnded: string; noLink: string };
}

export interface Counting {
  number: (count: number) => string;
  /** `count(2, { one: 'router', other: 'routers' })` is "2 routers". */
  count: (count: number, forms: { one: string; other: string }) => string;
}

/** Numbers as a language writes them. */
export function countingIn(locale: Locale): Counting {
  const rules = new Intl.PluralRules(locale);
  const digits = new Intl.NumberFormat(locale);
  return {
    number: (count) => digits.format(count),
    count: (count, forms) => `${digits.format(count)} ${rules.select(count) === 'one' ? forms.one : forms.other}`,
  };
}

/** "2 failed, 1 expired" in the order given; parts that are zero or missing are left out. */
export function partsOf<K extends string>(
  counts: Partial<Record<K, number>>,
  words: readonly (readonly [K, (count: number) => string])[],
): string[] {
  return words.filter(([key]) => (counts[key] ?? 0) > 0).map(([key, say]) => say(counts[key] ?? 0));
}
