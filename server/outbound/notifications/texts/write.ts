import type { Catalogue } from './catalogue.ts';
import { CATALOGUES } from './catalogues.ts';
import { cleanName, cutText } from './clean.ts';
import { listOf } from './rows.ts';
import { storyOf } from './story.ts';
import type { Story } from './story.ts';
import { durationOf, momentOf } from './times.ts';
import type { Moment, Zones } from './times.ts';
import type { Reader, Text, ThreadView, Tone } from './types.ts';

/** A telephone's lock screen shows about half of it; mail programs show all. */
export const MAX_SUBJECT_CHARS = 160;

/** The words of a message, in the language and with the times of its reader. Pure. */
export function writeText(view: ThreadView, reader: Reader): Text {
  const words = CATALOGUES[reader.locale];
  const zones = zonesOf(view, reader);
  const story = storyOf(view, words);
  const { rows, count } = listOf(view, words, zones, (thread) => lineOf(thread, words, zonesOf(thread, reader)));
  const tone = toneOf(view);
  return {
    locale: reader.locale,
    tone,
    subject: cutText(subjectOf(view, story, words, zones), MAX_SUBJECT_CHARS),
    subjectTimeZone: subjectTimeOf(view, story, words, zones) === '' ? null : (zones.siteTimeZone ?? zones.readerTimeZone),
    first: withStop(sentence(view, story, words, zones)),
    lines: linesOf(view, story, words, zones).map(withOneStop),
    rows,
    rowCount: count,
    url: view.url,
    acknowledgeUrl: null,
    parts: partsOf(view, story, words, zones),
    labels: {
      tone: words.tones[tone],
      open: view.subject.type === 'proof' && view.subject.code === null ? words.labels.confirm : words.labels.open,
      acknowledge: words.labels.acknowledge,
      unsubscribe: words.labels.unsubscribe,
      reason: reasonOf(view, words),
    },
  };
}

function reasonOf({ subject, team, group }: ThreadView, { labels }: Catalogue): string {
  if (subject.type === 'proof') return labels.reasonOfProof;
  if (subject.type === 'delivery') return labels.reasonOfAdmin(cleanName(team));
  return labels.reason(cleanName(team), group === null ? null : cleanName(group));
}

function zonesOf({ siteTimeZone, at }: ThreadView, { locale, timeZone }: Reader): Zones {
  return { locale, siteTimeZone, readerTimeZone: timeZone, now: at };
}

/** A thread as one line of another's list: its subject, with the time at which something happened. */
function lineOf(view: ThreadView, words: Catalogue, zones: Zones): string {
  const brief = (moment: Moment): Moment => ({ ...moment, elsewhere: null });
  const story = storyOf(view, words);
  return `${prefixOf(view, words)}${atPlace(story, statement(view, story, words, timeOf(view, story, words, zones, brief)))}`;
}

/** Whether the thread's cause is gone. Some routers may still be offline. */
function isOver({ kind, endedAt }: ThreadView): boolean {
  return endedAt !== null && (kind === 'resolve' || kind === 'was_away');
}

function toneOf(view: ThreadView): Tone {
  if (['test', 'proof', 'digest', 'held_back'].includes(view.subject.type)) return 'info';
  if (view.flapping?.now === 'quiet') return 'good';
  return isOver(view) && view.stillOpen === 0 ? 'good' : view.severity;
}

function prefixOf(view: ThreadView, words: Catalogue): string {
  const { prefixes } = words;
  if (view.kind === 'acknowledged') return `${words.takenOver(cleanName(view.acknowledgedBy ?? ''))}: `;
  // It asks for something, and is no test.
  if (view.subject.type === 'proof') return '';
  if (view.kind === 'test') return prefixes.test;
  if (isOver(view)) return view.stillOpen > 0 ? '' : prefixes[view.kind];
  switch (view.flapping?.now ?? (view.flapping === null ? undefined : 'flapping')) {
    case 'flapping':
      return prefixes.flapping;
    case 'quiet':
      return prefixes.quiet;
    case 'open':
      return prefixes.stays_open;
    case undefined:
      return prefixes[view.kind];
  }
}

function partsOf(view: ThreadView, story: Story, words: Catalogue, zones: Zones): Text['parts'] {
  const brief = (moment: Moment): Moment => ({ ...moment, elsewhere: null });
  const time = timeOf(view, story, words, zones, brief).trim();
  return {
    what: `${prefixOf(view, words)}${statement(view, story, words, '')}`,
    where: story.place ?? words.thisTeam(cleanName(view.team)),
    when: time === '' ? words.at(brief(momentOf(view.at, zones))) : time,
  };
}

/** A sentence with such a duration at its end would have two. */
function withOneStop(sentence: string): string {
  return sentence.replace(/\.\.$/, '.');
}

/** Durations of some languages end with one: "13 Min." */
function withStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

/** For a lock screen: no time of the reader's own, no sentence. */
function subjectOf(view: ThreadView, story: Story, words: Catalogue, zones: Zones): string {
  const time = subjectTimeOf(view, story, words, zones);
  return `${prefixOf(view, words)}${atPlace(story, backWithout(view, words) ?? statement(view, story, words, time))}`;
}

/** Empty where the subject names no time. */
function subjectTimeOf(view: ThreadView, story: Story, words: Catalogue, zones: Zones): string {
  if (story.time === 'event' || backWithout(view, words) !== undefined) return '';
  return timeOf(view, story, words, zones, (moment) => ({ ...moment, elsewhere: null }));
}

/** The first sentence, without its full stop: place, state, both times, numbers. */
function sentence(view: ThreadView, story: Story, words: Catalogue, zones: Zones): string {
  return atPlace(story, backWithout(view, words) ?? statementWithTimes(view, story, words, zones));
}

/** "agent is back, 3 of 500 routers still offline": more important than when it was away. */
function backWithout(view: ThreadView, words: Catalogue): string | undefined {
  if (!isOver(view) || view.subject.type !== 'agent' || view.stillOpen === 0) return undefined;
  return `${words.agentBack}, ${words.stillOffline(view.stillOpen, view.subject.routers)}`;
}

function atPlace({ place }: Story, text: string): string {
  return place === null ? text : `${place}: ${text}`;
}

function statementWithTimes(view: ThreadView, story: Story, words: Catalogue, zones: Zones): string {
  return statement(
    view,
    story,
    words,
    timeOf(view, story, words, zones, (moment) => moment),
  );
}

function statement(view: ThreadView, story: Story, words: Catalogue, time: string): string {
  const over = isOver(view);
  const state = `${over ? story.stateAfter : story.state}${time}`;
  // What an agent hid while it was away is no news once it is back.
  const tail = over && view.subject.type === 'agent' ? null : story.tail;
  return tail === null ? state : `${state}, ${tail}`;
}

/** " since 08:31", " from 08:31 to 08:44, 13 min", " at 08:31", or nothing. */
function timeOf(view: ThreadView, story: Story, words: Catalogue, zones: Zones, form: (moment: Moment) => Moment): string {
  if (view.subject.type === 'digest') {
    const { from, to } = view.subject;
    return ` ${words.span(form(momentOf(from, zones)), form(momentOf(to, zones)), durationOf(to - from, words.locale))}`;
  }
  if (story.time === 'none') return '';
  if (story.time === 'event') return ` ${words.at(form(momentOf(view.lastAt, zones)))}`;
  const from = form(momentOf(view.firstAt, zones));
  if (!isOver(view) || view.endedAt === null) return ` ${words.since(from)}`;
  return ` ${words.span(from, form(momentOf(view.endedAt, zones)), durationOf(view.endedAt - view.firstAt, words.locale))}`;
}

function linesOf(view: ThreadView, story: Story, words: Catalogue, zones: Zones): string[] {
  const age = durationOf(view.at - view.firstAt, words.locale);
  if (isOver(view)) {
    const away = backWithout(view, words) === undefined ? [] : [withStop(atPlace(story, statementWithTimes(view, story, words, zones)))];
    return [...away, ...story.linesAfter];
  }
  const { flapping, itemCount, openCount, kind } = view;
  return [
    ...(story.time === 'state' && itemCount > 1 && openCount < itemCount ? [words.openOf(openCount, itemCount)] : []),
    ...story.lines,
    ...(flapping === null ? [] : flappingLines(flapping, words)),
    ...(kind === 'reminder' ? [words.openFor(age)] : []),
    ...(kind === 'escalation' ? [words.nobodyAcknowledged(age)] : []),
    ...(view.acknowledgedBy === null ? [] : [`${words.takenOver(cleanName(view.acknowledgedBy))}.`]),
  ];
}

function flappingLines({ times, withinMs, now }: NonNullable<ThreadView['flapping']>, words: Catalogue): string[] {
  if (now === 'quiet') return [words.quietNow];
  if (now === 'open') return [words.staysOpen];
  return [words.comesAndGoes(times, durationOf(withinMs, words.locale))];
}
